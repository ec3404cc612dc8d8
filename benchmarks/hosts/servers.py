"""The servers that the site stands on, as docs/operations.md sets them up: queue, pooler, and a primary with a synchronous standby."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import redis

from benchsite.operations import valkey
from tests.network import Network, NoNetworks
from tests.services import as_postgres, find_postgres, find_program

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "operations.md"
PASSWORD = "bench"
PATIENCE = 120.0
DISK_MEGABYTES = 700  # of the primary, where it is to run full


def block(first: str) -> str:
    """The indented lines of the page from this one on."""
    text = PAGE.read_text(encoding="utf-8")
    lines = text[text.index(first) :].splitlines()
    indent = len(text[: text.index(first)].rpartition("\n")[2])
    last = next(n for n, line in enumerate(lines) if n and not line.startswith(" " * indent))
    return "\n".join(line.strip() for line in lines[:last]) + "\n"


class Servers:
    """Queue, pooler, and a database with a standby, each on its host."""

    def __init__(self, net: Network, folder: Path, *, durable: bool, small_disk: bool) -> None:
        self.net, self.folder, self.durable, self.small_disk = net, folder, durable, small_disk
        self.pgbouncer, self.nginx = self.program("pgbouncer"), self.program("nginx")
        self.pool_url = f"postgres://benchsite:{PASSWORD}@{net['pool'].address}:6432/benchsite"
        hosts = ",".join(net[name].address for name in ("db1", "db2"))
        self.both = f"postgres://benchsite:{PASSWORD}@{hosts}:5432/benchsite?target_session_attrs=read-write"
        self.queue_url = f"redis://:{PASSWORD}@{net['queue'].address}:6379/0"
        self.postgres = find_postgres() or sys.exit("PostgreSQL is missing.")

    def program(self, name: str) -> tuple[Path, dict[str, str]]:
        program = find_program(name)
        if program is None:
            raise NoNetworks(f"{name} is not installed, and apt does not offer it")
        path, libraries = program
        if not libraries:
            return program
        # Users other than root may not read where it is.
        home = shutil.copytree(path.parents[2], self.folder / name, symlinks=True)
        return home / "usr" / "sbin" / name, {"LD_LIBRARY_PATH": ":".join(map(str, home.glob("usr/lib/*-linux-*")))}

    def plain(self, **more: str) -> dict[str, str]:
        """What a service manager gives: nothing of the shell that started us."""
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
        return kept | more

    def log(self, host: str) -> Path:
        return self.folder / f"{host}.log"

    def start(self, host: str, *command: str | Path, environment: dict[str, str] | None = None) -> Any:
        with self.log(host).open("a") as log:
            return self.net[host].start(*command, log=log, environment=environment or self.plain(), folder=ROOT)

    def open_database(self) -> None:
        data, disk = self.data("db1"), self.data("db1").parent
        if self.small_disk:
            subprocess.run(
                ["mount", "-t", "tmpfs", "-o", f"size={DISK_MEGABYTES}m,mode=777", "tmpfs", disk], check=True
            )
        (self.folder / "password").write_text(PASSWORD)
        secret = ("-A", "scram-sha-256", f"--pwfile={self.folder / 'password'}")
        wal = ("-X", str(self.folder / "db1-wal"))  # a disk of its own, as with any database that must not stop
        self.postgres_run("initdb", "-D", str(data), "-U", "postgres", "-E", "UTF8", *secret, *wal)
        access = block("host benchsite benchsite").replace("10.0.0.0/24", f"{self.net.here}/24")
        with (data / "pg_hba.conf").open("a") as file:
            file.write(access + f"host all postgres {self.net.here}/24 scram-sha-256\n")
        (data / "postgresql.conf").write_text(
            f"listen_addresses = '*'\nunix_socket_directories = ''\nfsync = {self.durable}\n"
        )
        self.start_database("db1", data)
        with psycopg.connect(self.admin("db1"), autocommit=True) as connection:
            connection.execute(f"CREATE ROLE benchsite LOGIN PASSWORD '{PASSWORD}'")
            for statement in re.search(r"`(ALTER ROLE benchsite [^`]+)`", PAGE.read_text())[1].split(";"):
                connection.execute(statement)
            connection.execute(f"CREATE ROLE replicator REPLICATION LOGIN PASSWORD '{PASSWORD}'")
            connection.execute("CREATE DATABASE benchsite OWNER benchsite")

    def data(self, host: str) -> Path:
        """The database's folder, on what stands for that host's disk."""
        disk = self.folder / f"{host}-disk"
        disk.mkdir(exist_ok=True)
        disk.chmod(0o777)
        return disk / "data"

    def fill_disk(self) -> None:
        with (self.folder / "db1-disk" / "something-else").open("wb", buffering=0) as file, suppress(OSError):
            while file.write(bytes(1 << 20)):
                pass

    def free_disk(self) -> None:
        (self.folder / "db1-disk" / "something-else").unlink()

    def take_disk_out(self) -> None:
        if self.small_disk:
            subprocess.run(["umount", "--lazy", self.folder / "db1-disk"], check=False, capture_output=True)

    def open_standby(self, name: str, primary: str) -> None:
        """As the page says, from `pg_basebackup` on; then the primary waits for it."""
        data = self.data(name)
        shutil.rmtree(data, ignore_errors=True)
        (command,) = block("pg_basebackup --dbname").splitlines()
        replaced = command.replace("db1.example.org", self.net[primary].address)
        arguments = shlex.split(replaced.replace("/var/lib/postgresql/15/main", str(data)))
        self.postgres_run(*arguments, host=name, PGPASSWORD=PASSWORD)
        self.start_database(name, data)
        with psycopg.connect(self.admin(primary), autocommit=True) as connection:
            names = re.search(r"synchronous_standby_names = ('\S+')", block("listen_addresses = '*'"))[1]
            connection.execute(f"ALTER SYSTEM SET synchronous_standby_names = {names}")
            connection.execute("SELECT pg_reload_conf()")
            standing_by = "SELECT sync_state FROM pg_stat_replication"
            self.wait(lambda: connection.execute(standing_by).fetchall() == [("sync",)], f"{name} standing by")

    def postgres_run(self, program: str, *arguments: str, host: str = "db1", **environment: str) -> None:
        command = (*as_postgres(), self.postgres / program, *arguments)
        done = self.net[host].run(*command, environment=self.plain(LC_ALL="C.UTF-8", **environment), folder=Path("/"))
        if done.returncode:
            raise RuntimeError(f"{program} failed: {done.stdout[-500:]}{done.stderr[-500:]}")

    def start_database(self, name: str, data: Path) -> None:
        self.start(name, *as_postgres(), self.postgres / "postgres", "-D", str(data))
        self.wait(lambda: self.answers(name), f"PostgreSQL on {name}")

    def admin(self, name: str) -> str:
        return f"postgres://postgres:{PASSWORD}@{self.net[name].address}:5432/postgres?connect_timeout=3"

    def answers(self, name: str) -> bool:
        try:
            psycopg.connect(self.admin(name)).close()
        except psycopg.OperationalError:
            return False
        return True

    def open_pool(self) -> None:
        folder = self.folder / "pool-files"
        folder.mkdir()
        (folder / "userlist.txt").write_text(f'"benchsite" "{PASSWORD}"\n')
        self.write_pool("db1")
        for path in (folder, *folder.iterdir()):
            path.chmod(0o755)
        path, libraries = self.pgbouncer
        self.pooler = self.start(
            "pool", *as_postgres(), path, folder / "pgbouncer.ini", environment=self.plain(**libraries)
        )

    def write_pool(self, primary: str) -> None:
        text = block("[databases]").replace("db1.example.org", self.net[primary].address)
        text = text.replace("/etc/pgbouncer", str(self.folder / "pool-files"))
        (self.folder / "pool-files" / "pgbouncer.ini").write_text(text + "unix_socket_dir =\n")

    def reload_pool(self) -> None:
        self.pooler.send_signal(signal.SIGHUP)

    def open_queue(self) -> None:
        folder = self.folder / "queue-data"
        folder.mkdir()
        command = valkey.command(
            valkey.find_server() or sys.exit(valkey.MISSING), port=6379, folder=folder, password=PASSWORD
        )
        command[command.index("127.0.0.1")] = self.net["queue"].address
        self.start("queue", *command)
        client = redis.Redis.from_url(self.queue_url)
        self.wait(lambda: _pings(client), "Valkey")

    def wait(self, holds: Callable[[], bool], what: str, patience: float = PATIENCE) -> float:
        """Seconds until it held."""
        begun = time.monotonic()
        while not holds():
            if time.monotonic() - begun > patience:
                raise TimeoutError(f"{what} did not happen within {patience:g} s")
            time.sleep(0.1)
        return time.monotonic() - begun


def _pings(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False
