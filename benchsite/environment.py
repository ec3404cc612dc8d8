"""Settings read from the environment; a bad value fails loudly instead of meaning something else."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import dj_database_url
from django.core.exceptions import ImproperlyConfigured


def env_str(name: str, default: str = "") -> str:
    """The variable, or the content of the file that NAME_FILE names."""
    file = os.environ.get(f"{name}_FILE")
    if file:
        return Path(file).read_text().strip()
    return os.environ.get(name, default)


def env_bool(name: str, default: bool) -> bool:
    value = os.environ.get(name, str(default))
    if value not in ("True", "False"):
        raise ImproperlyConfigured(f"Unexpected value {name}={value}, use 'True' or 'False'.")
    return value == "True"


def env_int(name: str, default: int) -> int:
    value = os.environ.get(name, str(default))
    if not value.lstrip("-").isdigit():
        raise ImproperlyConfigured(f"Unexpected value {name}={value}, use a whole number.")
    return int(value)


def env_list(name: str, default: list[str]) -> list[str]:
    value = os.environ.get(name)
    return [item.strip() for item in value.split(",") if item.strip()] if value is not None else default


ROLES = ("admin", "curator", "analyst", "judge")


def env_roles(name: str) -> dict[str, str]:
    """`group=role,group=role`: which groups of the login provider have which role here."""
    pairs = [item.rpartition("=") for item in env_list(name, [])]
    for group, _, role in pairs:
        if not group or role not in ROLES:
            raise ImproperlyConfigured(f"Unexpected value in {name}, use GROUP=ROLE with one of {', '.join(ROLES)}.")
    return {group.strip(): role for group, _, role in pairs}


def refuse_half_a_login(issuer: str, client: str, passwords: bool) -> None:
    """A provider needs a client id and https; a site without passwords needs a provider."""
    address = urlsplit(issuer)
    local = address.scheme == "http" and address.hostname in ("127.0.0.1", "localhost", "::1")
    if issuer and not (address.scheme == "https" or local):
        raise ImproperlyConfigured("Unexpected value of OIDC_ISSUER, use an https address.")
    if bool(issuer) != bool(client):
        raise ImproperlyConfigured("OIDC_ISSUER and OIDC_CLIENT_ID belong together: set both or neither.")
    if not issuer and not passwords:
        raise ImproperlyConfigured("LOCAL_PASSWORDS=False needs OIDC_ISSUER: nobody could log in.")


def env_folder(name: str, default: Path) -> Path:
    """A folder of ours, made where there is none."""
    path = Path(env_str(name, str(default)))
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ImproperlyConfigured(
            f"{name}={path} cannot be created: {error.strerror}. Choose a folder you can write to."
        ) from None
    if not os.access(path, os.W_OK):
        raise ImproperlyConfigured(f"{name}={path} is not writable. Change its owner, or choose another folder.")
    return path


def env_database(default: str) -> dict[str, Any]:
    """DATABASE_URL as Django wants it; unset and empty mean the default. The message never contains the password."""
    try:
        return dict(dj_database_url.parse(env_str("DATABASE_URL") or default, conn_max_age=60, conn_health_checks=True))
    except ValueError:
        raise ImproperlyConfigured(
            "DATABASE_URL cannot be read, use postgres://USER:PASSWORD@HOST:PORT/NAME or sqlite:////FOLDER/FILE."
        ) from None


def postgresql_options(given: dict[str, Any]) -> dict[str, Any]:
    """What every connection to PostgreSQL asks for, unless DATABASE_URL says otherwise.

    A network that swallows packets must be noticed within seconds: the system's own limits are minutes. A pooler in
    transaction mode refuses `options` at the start and shares its connections, so with one the role sets the time-out.
    """
    pooled, idle = env_bool("DATABASE_POOLER", False), env_int("IDLE_TRANSACTION_SECONDS", 30)
    defaults: dict[str, Any] = {
        "connect_timeout": 4,  # seconds, for each address of the host
        "keepalives": 1,
        "keepalives_idle": 4,
        "keepalives_interval": 2,
        "keepalives_count": 2,
        "tcp_user_timeout": 4_000,  # milliseconds that data may stay unacknowledged
        # Only statements that ask for it are prepared (benchsite/lib/database/prepared.py); Django's own never repeat to the letter.
        # A pooler between this site and PostgreSQL may not know them: then none is.
        "prepare_threshold": 10**9 if env_bool("PREPARED_STATEMENTS", True) else None,
    }
    if not pooled:
        # A worker that is stopped in the middle of a transaction must not keep its locks for ever. And what is prepared is
        # planned once: left to itself, PostgreSQL plans a join of ten tables anew each time, for three milliseconds.
        defaults["options"] = f"-c idle_in_transaction_session_timeout={idle}s -c plan_cache_mode=force_generic_plan"
    return defaults | given


def secret_key(folder: Path) -> str:
    """SECRET_KEY from the environment, else one made on first start and kept readable by its owner alone."""
    if key := env_str("SECRET_KEY"):
        return key
    path = folder / "secret_key"
    try:
        with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(50))
    except FileExistsError:
        pass
    return path.read_text().strip()


def left_behind(name: str, path: Path, default: str) -> str:
    """The variable, else the address that `script/server` left in `path`, so that other shells find its servers."""
    return env_str(name) or (path.read_text().strip() if path.exists() else default)
