"""Hosts of their own on one machine: a network namespace each, with an address, a name and cables that can be cut (Linux, root)."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from random import SystemRandom
from typing import IO

from tests.services import apt_install

NOWHERE = "02:00:00:00:00:01"  # no card has this address, so what is sent there is lost without a word


class NoNetworks(Exception):
    """This machine lets nobody make networks; the message says why."""


def ip(*arguments: str, batch: list[str] | None = None) -> str:
    command = ["ip", *arguments, *(["-batch", "-"] if batch is not None else [])]
    done = subprocess.run(command, input="\n".join(batch or []), capture_output=True, text=True)
    if done.returncode:
        raise NoNetworks(f"`ip {' '.join(arguments)}` failed: {done.stderr.strip()[:200]}")
    return done.stdout


class Host:
    """One machine of the network: what runs in it has its address and its name, and nothing of other hosts' ports."""

    def __init__(self, network: Network, name: str, address: str) -> None:
        self.network, self.name, self.address = network, name, address
        self.namespace = f"{network.mark}-{name}"

    def command(self, *command: str | Path) -> list[str]:
        inside = ["ip", "netns", "exec", self.namespace, "unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"']
        return [*inside, self.name, *map(str, command)]

    def start(
        self,
        *command: str | Path,
        log: IO[str],
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
    ) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(self.command(*command), cwd=folder, env=environment, stdout=log, stderr=log)
        self.network.started.append(process)
        return process

    def run(
        self, *command: str | Path, environment: Mapping[str, str] | None = None, folder: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(self.command(*command), cwd=folder, env=environment, capture_output=True, text=True)

    def kill(self) -> None:
        """As when its plug is pulled."""
        for pid in ip("netns", "pids", self.namespace).split():
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)


class Network:
    """A switch and the hosts on it. `here` is the address at which this process itself takes part."""

    def __init__(self, *names: str) -> None:
        taken = ip("-4", "-o", "addr")
        nets = [f"198.18.{code}." for code in range(250)]  # RFC 2544: for tests of networks, and used by nobody else
        net = SystemRandom().choice([net for net in nets if net not in taken])
        self.mark, self.link = f"bs{os.getpid()}", f"bs{os.getpid()}here"
        self.here, self.switch = f"{net}1", f"{self.mark}-switch"
        self.hosts = {name: Host(self, name, f"{net}{number}") for number, name in enumerate(names, 10)}
        self.started: list[subprocess.Popen[bytes]] = []

    def __getitem__(self, name: str) -> Host:
        return self.hosts[name]

    def open(self) -> None:
        spaces = [f"netns add {space}" for space in (self.switch, *(host.namespace for host in self.hosts.values()))]
        cables = [
            f"link add name {host.name} netns {self.switch} type veth peer name eth0 netns {host.namespace}"
            for host in self.hosts.values()
        ]
        ip(batch=[*spaces, *cables, f"link add name {self.link} type veth peer name here netns {self.switch}"])
        ports = [f"link set dev {name} master hub up" for name in ("here", *self.hosts)]
        ip("-n", self.switch, batch=["link add name hub type bridge", *ports, "link set dev hub up"])
        for host in self.hosts.values():
            up = ["link set dev lo up", f"addr add {host.address}/24 dev eth0", "link set dev eth0 up"]
            ip("-n", host.namespace, batch=up)
        ip(batch=[f"addr add {self.here}/24 dev {self.link}", f"link set dev {self.link} up"])
        if (done := host.run("hostname")).stdout.strip() != host.name:
            raise NoNetworks(f"a host cannot have a name of its own here: {done.stderr.strip()[:200]}")

    def cut(self, one: str, other: str) -> None:
        """Neither hears the other any more, and nobody tells them."""
        for a, b in ((self[one], self[other]), (self[other], self[one])):
            ip("-n", a.namespace, batch=[f"neigh replace {b.address} lladdr {NOWHERE} nud permanent dev eth0"])

    def mend(self, one: str, other: str) -> None:
        for a, b in ((self[one], self[other]), (self[other], self[one])):
            ip("-n", a.namespace, batch=[f"neigh del {b.address} dev eth0"])

    def unplug(self, name: str) -> None:
        ip("-n", self.switch, batch=[f"link set dev {name} down"])

    def plug_in(self, name: str) -> None:
        ip("-n", self.switch, batch=[f"link set dev {name} up"])

    def close(self) -> None:
        with suppress(NoNetworks):
            for host in self.hosts.values():
                host.kill()
        for process in self.started:
            process.kill()
            process.wait()
        with suppress(NoNetworks):
            ip("-force", batch=[f"link del dev {self.link}"])
        with suppress(NoNetworks):
            ip(
                "-force",
                batch=[f"netns del {name}" for name in (self.switch, *(h.namespace for h in self.hosts.values()))],
            )


@contextmanager
def network(*names: str) -> Iterator[Network]:
    """Hosts with these names; `NoNetworks` where this machine lets nobody make any."""
    if os.geteuid() != 0:
        raise NoNetworks("networks of their own need root")
    if not shutil.which("ip"):
        try:
            apt_install("iproute2", "ip")
        except (SystemExit, subprocess.CalledProcessError) as error:
            raise NoNetworks(f"iproute2 is missing and could not be installed: {error}") from None
    opened = Network(*names)
    try:
        opened.open()
        yield opened
    finally:
        opened.close()
