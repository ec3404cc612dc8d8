"""The real servers that tests and benches run on: PostgreSQL, Valkey and Chromium, found or installed."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import SystemRandom

import psycopg
import redis
from psycopg import sql

from benchsite.operations import valkey

# Without partial raster, a picture of a page does not depend on what was painted there before.
CHROMIUM_FLAGS = (
    "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync --no-first-run "
    "--disable-partial-raster"
)


def free_port() -> int:
    """A port below those that outgoing connections get: none of them takes it while its server starts or is restarted."""
    while True:
        with suppress(OSError), socket.create_server(("127.0.0.1", SystemRandom().randrange(15_000, 32_000))) as server:
            return server.getsockname()[1]


def apt_install(package: str, purpose: str) -> None:
    """Install by apt where we may; else say what is needed and stop."""
    if not shutil.which("apt-get") or os.geteuid() != 0:
        sys.exit(f"{purpose} is missing. Install it (on Debian: apt-get install {package}), then run this again.")
    print(f"Installing {package} ...", file=sys.stderr)
    subprocess.run(["apt-get", "update", "-qq"], check=True, stdout=subprocess.DEVNULL)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "-o", "DPkg::Lock::Timeout=600", "install", "-y", "-qq", package]  # others may be installing
    subprocess.run(install, check=True, stdout=subprocess.DEVNULL, env=environment)


def find_postgres() -> Path | None:
    """The folder with initdb in it, the newest version first."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name), reverse=True)
    if on_path := shutil.which("initdb"):
        folders.append(Path(on_path).parent)
    return next((folder for folder in folders if (folder / "initdb").exists()), None)


def as_postgres() -> list[str]:
    """PostgreSQL refuses to run as root: become `postgres` or nobody, where we are root."""
    if os.geteuid() != 0:
        return []
    import pwd

    user = next((name for name in ("postgres", "nobody") if any(entry.pw_name == name for entry in pwd.getpwall())), "")
    entry = pwd.getpwnam(user)
    return ["setpriv", f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}", "--clear-groups"]


class Postgres:
    """A throw-away cluster on a free port of this machine. `durable` writes every commit to the disk, as in production."""

    def __init__(self, binaries: Path, *, durable: bool = False) -> None:
        self.binaries = binaries
        # Commits are never asynchronous: a server that is killed would lose what it had acknowledged.
        self.settings = f"fsync={'on' if durable else 'off'} synchronous_commit=on"
        self.folder = Path(tempfile.mkdtemp(prefix="benchsite-pg-"))
        self.port = free_port()
        self.url = f"postgres://bench:bench@127.0.0.1:{self.port}/postgres"
        self.folder.chmod(0o777)  # the server runs as another user
        password = self.folder / "password"
        password.write_text("bench")
        self._run(
            "initdb", "-D", self.data, "-U", "bench", "-A", "scram-sha-256", f"--pwfile={password}", "-E", "UTF8", "-N"
        )

    @property
    def data(self) -> str:
        return str(self.folder / "data")

    def _run(self, program: str, *arguments: str) -> None:
        command = [*as_postgres(), str(self.binaries / program), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, cwd="/", env={**os.environ, "LC_ALL": "C.UTF-8"})
        if done.returncode:
            raise RuntimeError(f"{program} failed: {done.stdout[-500:]}{done.stderr[-500:]}")

    def start(self) -> None:
        options = f"-p {self.port} -h 127.0.0.1 -k {self.folder} -c max_connections=200"
        options += "".join(f" -c {setting}" for setting in self.settings.split())
        log = str(self.folder / "log")
        self._run("pg_ctl", "-D", self.data, "-w", "-t", "60", "-l", log, "-o", options, "start")

    def create(self, name: str) -> str:
        """An empty database; the answer is its address."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        return self.url.removesuffix("postgres") + name

    def copy_of(self, source: str) -> str:
        """All tables and rows of another database, in much less time than migrations take; the answer is the address."""
        dumped = subprocess.run([self.binaries / "pg_dump", "--no-owner", source], check=True, stdout=subprocess.PIPE)
        load = [self.binaries / "psql", "--quiet", "--set=ON_ERROR_STOP=1", f"--dbname={self.url}"]
        subprocess.run(load, input=dumped.stdout, check=True, stdout=subprocess.DEVNULL)
        return self.url

    def stop(self, mode: str = "fast") -> None:
        self._run("pg_ctl", "-D", self.data, "-w", "-m", mode, "stop")

    def restart(self) -> None:
        self.stop("immediate")
        self.start()


@contextmanager
def postgres(*, durable: bool = False) -> Iterator[Postgres]:
    if find_postgres() is None:
        apt_install("postgresql", "PostgreSQL (initdb)")
    server = Postgres(find_postgres() or Path(), durable=durable)
    server.start()
    try:
        yield server
    finally:
        server.stop("immediate")
        shutil.rmtree(server.folder, ignore_errors=True)


@contextmanager
def own_database() -> Iterator[str]:
    """The address of a database of one's own: a migrated copy on the server of the tests, where they have one, else a new server."""
    server, template = os.environ.get("DATABASE_URL", ""), os.environ.get("TEST_TEMPLATE", "")
    if not (server.startswith("postgres") and template):
        with postgres() as database:
            yield database.url
        return
    name = f"own_{SystemRandom().getrandbits(64):x}"
    create, drop = sql.SQL("CREATE DATABASE {} TEMPLATE {}"), sql.SQL("DROP DATABASE {} WITH (FORCE)")
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(create.format(sql.Identifier(name), sql.Identifier(template)))
        yield f"{server.rpartition('/')[0]}/{name}"
        connection.execute(drop.format(sql.Identifier(name)))


class Valkey:
    """An embedded queue server in a folder of its own, that can be killed and started again, empty or not."""

    def __init__(self) -> None:
        self.server = valkey.find_server() or sys.exit(valkey.MISSING)
        self.folder = Path(tempfile.mkdtemp(prefix="benchsite-valkey-"))
        self.port = free_port()
        self.url = f"redis://:bench@127.0.0.1:{self.port}/0"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = valkey.command(self.server, port=self.port, folder=self.folder, password="bench")
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        client = redis.Redis.from_url(self.url)
        for _ in range(200):
            try:
                if client.ping():
                    client.close()
                    return
            except redis.RedisError:
                time.sleep(0.05)
        raise RuntimeError("Valkey did not start")

    def kill(self) -> None:
        if self.process:
            self.process.kill()
            self.process.wait()

    def restart_empty(self) -> None:
        self.kill()
        shutil.rmtree(self.folder)
        self.folder.mkdir()
        self.start()


@contextmanager
def valkey_server() -> Iterator[Valkey]:
    server = Valkey()
    server.start()
    try:
        yield server
    finally:
        server.kill()
        shutil.rmtree(server.folder, ignore_errors=True)


def bubblewrap() -> None:
    """What isolates Python programs."""
    if shutil.which("bwrap") is None:
        apt_install("bubblewrap", "bubblewrap")


def find_program(name: str) -> tuple[Path, dict[str, str]] | None:
    """A server program and what its environment needs: the machine's own, or the one that apt offers, unpacked beside our packages.

    It is not installed, because that would start it. None where there is no apt, or apt does not offer it.
    """
    if path := shutil.which(name):
        return Path(path), {}
    home = Path(sys.prefix, "servers", name)
    if not home.exists() and shutil.which("apt-get"):
        with tempfile.TemporaryDirectory() as folder:
            places = ["-o", f"Dir::Cache::archives={folder}", "-o", "APT::Sandbox::User=root"]
            command = ["apt-get", "-qq", *places, "install", "-y", "--download-only", "--no-install-recommends", name]
            Path(folder, "partial").mkdir()
            if subprocess.run(command, capture_output=True).returncode:
                return None
            for archive in Path(folder).glob("*.deb"):
                subprocess.run(["dpkg", "-x", archive, Path(folder, "unpacked")], check=True)
            home.parent.mkdir(exist_ok=True)
            with suppress(FileExistsError):  # somebody else was faster
                shutil.copytree(Path(folder, "unpacked"), home, symlinks=True)
    libraries = {"LD_LIBRARY_PATH": ":".join(str(path) for path in home.glob("usr/lib/*-linux-*"))}
    return next(((path, libraries) for path in home.glob(f"usr/sbin/{name}")), None)


def find_chromium() -> str | None:
    names = ("chromium-headless-shell", "chromium", "google-chrome", "google-chrome-stable", "chromium-browser")
    return os.environ.get("CHROMIUM") or next((path for name in names if (path := shutil.which(name))), None)


def chromium() -> str:
    """A real browser: the machine's own, else Debian's, else the one Playwright brings.

    The headless shell is Chromium without windows, tabs and menus, which would take half the time and are never seen.
    """
    if found := find_chromium():
        return found
    debian = Path("/etc/debian_version").exists() and "ubuntu" not in Path("/etc/os-release").read_text().lower()
    if debian:
        apt_install("chromium-headless-shell", "Chromium")
        return find_chromium() or sys.exit("Chromium was installed but is not on the PATH.")
    if subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"]).returncode:
        sys.exit("Chromium is missing and could not be fetched. Install it, or set CHROMIUM to its path.")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return playwright.chromium.executable_path
