"""The deployment of docs/operations.md on hosts of its own: balancer, two web hosts, three workers, PgBouncer, PostgreSQL and a standby.

Commands come from the systemd units, the environment from the example, nginx's file and PgBouncer's from deploy/ and the page itself:
what is written there is what runs here, with addresses, passwords and folders put in.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from benchmarks.hosts.servers import PASSWORD, ROOT, Servers
from tests.network import Network, network

WEB, WORKERS = ("web1", "web2"), ("worker1", "worker2", "worker3")
HOSTS = ("balancer", *WEB, *WORKERS, "pool", "db1", "db2", "queue", "provider")
TOKEN, SITE = "a-token-for-the-watcher", "bench.example.org"
# What each worker host does beside drawing.
ASIDE = {
    "worker1": ("benchsite-measure", "benchsite-refit"),
    "worker2": ("benchsite-fit",),
    "worker3": ("benchsite-sweep",),
}
RESTART_SECONDS = 2.0  # as in the units


class Topology(Servers):
    """The site on its hosts, above its servers."""

    def __init__(
        self, net: Network, folder: Path, *, web_workers: int, durable: bool, small_disk: bool, **settings: str
    ) -> None:
        super().__init__(net, folder, durable=durable, small_disk=small_disk)
        self.web_workers, self.settings = web_workers, settings
        self.provider_url = f"https://{net['provider'].address}/v1"
        self.closing = threading.Event()
        (folder / "key").write_text("k" * 50)

    def environment(self, host: str) -> dict[str, str]:
        """deploy/benchsite.env.example with this network's values, as every host has it."""
        text = (ROOT / "deploy" / "benchsite.env.example").read_text(encoding="utf-8")
        values = dict(line.split("=", 1) for line in text.splitlines() if "=" in line and not line.startswith("#"))
        new_enough = self.pooler_version() >= (1, 24)  # it keeps prepared statements by itself
        return values | {
            "ALLOWED_HOSTS": f"{SITE},127.0.0.1,{self.net[host].address}",
            # One host without the pooler, by both addresses: both ways of the page must survive a failover.
            "DATABASE_URL": self.both if host == "worker3" else self.pool_url,
            "DATABASE_POOLER": str(host != "worker3"),
            "PREPARED_STATEMENTS": str(new_enough or host == "worker3"),
            "REDIS_URL": self.queue_url,
            "SECRET_KEY_FILE": str(self.folder / "key"),
            "VAR_DIR": str(self.folder / host),
            "METRICS_TOKEN": TOKEN,
            "DEMO_PROVIDER_URL": self.provider_url,
            "PROVIDER_CA": str(self.folder / "provider-files" / "fullchain.pem"),
            **self.settings,
        }

    def pooler_version(self) -> tuple[int, ...]:
        path, libraries = self.pgbouncer
        text = subprocess.run([path, "-V"], capture_output=True, text=True, env={**os.environ, **libraries}).stdout
        return tuple(map(int, re.findall(r"\d+", text.split("\n")[0])[:2]))

    def command(self, unit: str, host: str) -> list[str]:
        """What the unit starts, with this clone's folder and the host's own address."""
        text = (ROOT / "deploy" / "systemd" / f"{unit}.service").read_text(encoding="utf-8")
        line = re.search(r"^ExecStart=(.+)$", text, re.M)[1]
        line = line.replace("/opt/benchsite/.venv/bin", str(Path(sys.executable).parent))
        line = line.replace("127.0.0.1:8000", f"{self.net[host].address}:8000").replace(
            "--workers 4", f"--workers {self.web_workers}"
        )
        return shlex.split(line)

    def service(self, unit: str, host: str) -> None:
        """Started, and started again after the unit's two seconds whenever it ends, as by systemd."""
        environment = self.plain(**self.environment(host))

        def supervise() -> None:
            while not self.closing.is_set():
                self.start(host, *self.command(unit, host), environment=environment).wait()
                self.closing.wait(RESTART_SECONDS)

        threading.Thread(target=supervise, daemon=True).start()

    def settings_file(self, host: str, **environment: str) -> dict[str, str]:
        """/etc/benchsite.env of that host, and where `deploy/manage` finds it."""
        file = self.folder / f"{host}.env"
        values = self.environment(host) | environment
        file.write_text("".join(f"{name}={value}\n" for name, value in values.items()))
        return self.plain(BENCHSITE_ENV=str(file))

    def manage(self, host: str, *arguments: str, **environment: str) -> None:
        settings = self.settings_file(host, **environment)
        done = self.net[host].run("deploy/manage", *arguments, environment=settings, folder=ROOT)
        if done.returncode:
            raise RuntimeError(f"{' '.join(arguments)} on {host} failed: {done.stdout[-800:]}{done.stderr[-1500:]}")

    def manage_lines(self, host: str, *arguments: str) -> Iterator[str]:
        """What the command prints, as soon as it does."""
        command, settings = self.net[host].command("deploy/manage", *arguments), self.settings_file(host)
        with subprocess.Popen(command, cwd=ROOT, env=settings, stdout=subprocess.PIPE, text=True) as process:
            yield from process.stdout or ()

    def open_site(self) -> None:
        direct = f"postgres://benchsite:{PASSWORD}@{self.net['db1'].address}:5432/benchsite"
        self.open_provider()
        self.open_balancer()
        with ThreadPoolExecutor() as together:
            migrated = together.submit(
                self.manage, "worker1", "migrate", "-v0", DATABASE_URL=direct, DATABASE_POOLER="False"
            )
            list(together.map(lambda host: self.manage(host, "collectstatic", "--noinput", "-v0"), WEB))
            migrated.result()
        for host in WEB:
            self.service("benchsite-web", host)
        for host in WORKERS:
            for unit in ("benchsite-draw@", *ASIDE[host]):
                self.service(unit, host)

    def open_provider(self) -> None:
        """The demo provider behind TLS of its own, as the site asks for of every provider that is not on its own machine."""
        provider = ("-m", "generation.demo", "--port", "8001", "--latency", "2", "--faults", "0")
        self.start("provider", sys.executable, *provider, environment=self.plain())
        address = self.net["provider"].address
        folder = self.certificate("provider", f"IP:{address}")
        files = f"ssl_certificate {folder}/fullchain.pem; ssl_certificate_key {folder}/privkey.pem;"
        passed = "location / { proxy_pass http://127.0.0.1:8001; proxy_read_timeout 600s; }"
        self.start_nginx("provider", f"access_log off; server {{ listen 443 ssl; {files} {passed} }}")

    def certificate(self, host: str, name: str) -> Path:
        folder = self.folder / f"{host}-files"
        folder.mkdir()
        names = ["-subj", f"/CN={host}", "-addext", f"subjectAltName={name}"]
        files = ["-keyout", folder / "privkey.pem", "-out", folder / "fullchain.pem"]
        command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", *names, *files]
        subprocess.run(command, check=True, capture_output=True)
        return folder

    def open_balancer(self) -> None:
        folder = self.certificate("balancer", f"DNS:{SITE}")
        text = (ROOT / "deploy" / "nginx" / "benchsite.conf").read_text(encoding="utf-8")
        one = re.search(r"^    server 127\.0\.0\.1:8000 .*$", text, re.M)[0]
        text = text.replace(one, "\n".join(one.replace("127.0.0.1", self.net[name].address) for name in WEB))
        text = text.replace("/etc/letsencrypt/live/bench.example.org", str(folder)).replace(
            "/var/log/nginx", str(folder)
        )
        self.start_nginx("balancer", text)

    def start_nginx(self, host: str, text: str) -> None:
        folder = self.folder / f"{host}-files"
        spare = "\n".join(
            f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        (folder / "nginx.conf").write_text(
            f"user root;\nworker_processes 1;\npid {folder}/pid;\nevents {{}}\nhttp {{\n{spare}\n{text}\n}}\n"
        )
        path, libraries = self.nginx
        command = (path, "-e", "stderr", "-c", folder / "nginx.conf", "-g", "daemon off;")
        self.start(host, *command, environment=self.plain(**libraries))


@contextmanager
def topology(
    *, web_workers: int = 4, durable: bool = True, small_disk: bool = False, **settings: str
) -> Iterator[Topology]:
    """All hosts up, with a migrated site that nobody uses yet."""
    with network(*HOSTS) as net, tempfile.TemporaryDirectory(prefix="benchsite-hosts-") as name:
        folder = Path(name)
        folder.chmod(0o777)  # PostgreSQL and PgBouncer run as another user
        site = Topology(net, folder, web_workers=web_workers, durable=durable, small_disk=small_disk, **settings)
        try:
            site.open_queue()
            site.open_database()
            site.open_pool()
            site.open_standby("db2", "db1")
            site.open_site()
            yield site
        except Exception as error:
            for path in sorted(folder.glob("*.log")):  # they are gone in a moment
                error.add_note(f"{path.name}:\n{path.read_text()[-2000:]}")
            raise
        finally:
            site.closing.set()
            for host in net.hosts.values():
                host.kill()
            site.take_disk_out()
