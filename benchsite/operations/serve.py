"""The one-command server: prepares `var/`, then starts a supervisor that restarts every part that fails."""

from __future__ import annotations

import fcntl
import hashlib
import os
import secrets
import socket
import sys
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from benchsite.environment import env_folder, env_str
from benchsite.lib.private_files import write_private
from benchsite.operations import valkey

ROOT = Path(__file__).resolve().parents[2]
PYTHON = sys.executable


def port_is_free(host: str, port: int) -> bool:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def read_address(environment: dict[str, str]) -> tuple[str, int]:
    host, port = environment.get("HOST", "127.0.0.1"), environment.get("PORT", "8000")
    if not port.isdigit() or not 0 < int(port) < 65536:
        sys.exit(f"PORT={port} is not a port; use a number such as 8000.")
    if not port_is_free(host, int(port)):
        sys.exit(f"Port {port} on {host} is in use. Stop what uses it, or choose another: PORT=8001 script/server")
    return host, int(port)


def var_folder() -> Path:
    try:
        return env_folder("VAR_DIR", ROOT / "var").resolve()
    except ImproperlyConfigured as error:
        sys.exit(str(error))


def lock_folder(folder: Path) -> None:
    """One server per folder. The lock stays with this process, which becomes the supervisor."""
    descriptor = os.open(folder / "server.lock", os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit(f"Benchsite already runs from {folder}. Stop it first (Ctrl-C where it runs).")
    os.set_inheritable(descriptor, True)


def collect_static(stamp: Path) -> bool:
    """Collect static files if any of them changed: hashing and compressing them takes longer than all the rest."""
    from django.conf import settings
    from django.contrib.staticfiles.finders import get_finders
    from django.core.management import call_command

    files = [Path(storage.path(name)) for finder in get_finders() for name, storage in finder.list([])]
    state = sorted((str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files)
    digest = hashlib.sha256(repr((settings.STATIC_ROOT, settings.STORAGES, state)).encode()).hexdigest()
    manifest = Path(settings.STATIC_ROOT) / "staticfiles.json"
    if manifest.exists() and stamp.exists() and stamp.read_text() == digest:
        return False
    stamp.unlink(missing_ok=True)
    call_command("collectstatic", verbosity=0, interactive=False)
    stamp.write_text(digest)
    return True


def prepare(folder: Path) -> None:
    """Tables, static files and first logins, in one process: most of a start's time is importing Django."""
    import django
    from django.core.management import call_command
    from django.db import DatabaseError, connections

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchsite.settings")
    django.setup()
    from generation.checks import refuse_to_start

    try:
        refuse_to_start()
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    try:
        call_command("migrate", verbosity=0, interactive=False)
    except DatabaseError as error:
        sys.exit(f"The database does not answer or cannot be changed: {str(error).strip()}")
    collect_static(folder / "static.stamp")
    call_command("first_logins")
    connections.close_all()


def programs(host: str, port: int, folder: Path, embedded: list[str] | None, demo_port: int) -> dict[str, list[str]]:
    """Every child by name, in the order it starts."""
    queue = {"queue": embedded} if embedded else {}
    return {
        **queue,
        "demo-provider": [PYTHON, "-m", "generation.demo", "--port", str(demo_port)],
        "web": [
            *(
                PYTHON,
                "-m",
                "gunicorn",
                "benchsite.wsgi",
                "--bind",
                f"[{host}]:{port}" if ":" in host else f"{host}:{port}",
            ),
            *("--workers", "2", "--threads", "4", "--worker-tmp-dir", str(folder), "--log-level", "warning"),
        ],
        "drawing": [PYTHON, "manage.py", "work", "draw"],
        "measuring": [PYTHON, "manage.py", "work", "measure"],
        "fitting": [PYTHON, "manage.py", "work", "fit"],
        "refitting": [PYTHON, "manage.py", "refit", "--forever"],
        "sweeper": [PYTHON, "manage.py", "sweep", "--forever"],
        "demo-runs": [PYTHON, "manage.py", "demo_runs"],
    }


def supervisor_config(children: dict[str, list[str]], folder: Path) -> str:
    def section(priority: int, name: str, command: list[str]) -> str:
        # Quoted for supervisor, which reads commands as a shell would and % as its own.
        words = " ".join("'" + word.replace("%", "%%") + "'" for word in command)
        once = "autorestart=unexpected\nstartsecs=0" if name == "demo-runs" else "autorestart=true\nstartsecs=1"
        # The output of these two is only useful for debugging.
        log = f"{folder}/{name}.log" if name in ("queue", "demo-provider") else "/dev/fd/1"
        return (
            f"[program:{name}]\ncommand={words}\n{once}\npriority={priority}\nstartretries=1000\nexitcodes=0\nstopasgroup=true\n"
            "killasgroup=true\nstopwaitsecs=15\nredirect_stderr=true\n"
            f"stdout_logfile={log}\nstdout_logfile_maxbytes=0\n"
        )

    head = (
        f"[supervisord]\nnodaemon=true\nsilent=true\nlogfile={folder}/supervisord.log\n"
        f"logfile_maxbytes=1MB\npidfile={folder}/supervisord.pid\ndirectory={ROOT}\n"
    )
    # Started in this order and stopped in the reverse one: workers go before the queue they listen to.
    return "\n".join([head, *(section(place, *child) for place, child in enumerate(children.items(), start=1))])


def start_queue(folder: Path) -> list[str] | None:
    """The embedded queue's command, unless REDIS_URL names another; its address is left in `var/redis_url`."""
    if env_str("REDIS_URL"):
        return None
    server = valkey.find_server() or sys.exit(valkey.MISSING)
    port, password = free_port(), secrets.token_urlsafe(24)
    os.environ["REDIS_URL"] = f"redis://:{password}@127.0.0.1:{port}/0"
    write_private(folder / "redis_url", os.environ["REDIS_URL"])
    data = folder / "valkey"
    data.mkdir(exist_ok=True)
    return valkey.command(server, port=port, folder=data, password=password)


USAGE = """\
script/server: the whole site on this machine. It takes no arguments; environment variables configure it:

  PORT=8001 script/server       a port other than 8000
  HOST=0.0.0.0 script/server    reachable from other machines; set ALLOWED_HOSTS to its names
  VAR_DIR=/data script/server   a folder other than var/ for the database, logins and keys

docs/operations.md has every setting."""


def main() -> None:
    if sys.argv[1:]:
        print(USAGE)
        sys.exit(0 if sys.argv[1] in ("-h", "--help") else 2)
    host, port = read_address(dict(os.environ))
    folder = var_folder()
    folder.chmod(0o700)
    lock_folder(folder)
    embedded = start_queue(folder)
    demo_port = free_port()
    os.environ["DEMO_PROVIDER_URL"] = f"http://127.0.0.1:{demo_port}/v1"
    write_private(folder / "demo_url", os.environ["DEMO_PROVIDER_URL"])
    os.environ.setdefault("LOG_LEVEL", "WARNING")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if host not in ("127.0.0.1", "localhost", "::1") and "ALLOWED_HOSTS" not in os.environ:
        print(f"HOST={host}: set ALLOWED_HOSTS to the names under which the site is reached.", file=sys.stderr)
    prepare(folder)
    config = folder / "supervisord.conf"
    write_private(config, supervisor_config(programs(host, port, folder, embedded, demo_port), folder))
    print(f"\n  Benchsite is on http://{host}:{port}/   (Ctrl-C stops everything)\n", flush=True)
    os.chdir(ROOT)
    os.execv(PYTHON, [PYTHON, "-m", "supervisor.supervisord", "-n", "-c", str(config)])


if __name__ == "__main__":
    main()
