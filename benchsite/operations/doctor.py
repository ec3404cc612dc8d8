"""Checks a deployment: each check reports what it found and how to fix it."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils.timezone import now
from redis import Redis
from redis.exceptions import RedisError

from benchsite.lib.hosts import is_loopback
from benchsite.operations.metrics import seconds_behind, workers_by_queue
from generation.formats import format_names, get_format
from generation.models import Run, Sample
from generation.queue import queue_connection, seconds_since_beat
from generation.runs.notices import checked_webhook
from generation.suites.loading import BrokenSuite, load_suites
from generation.suites.profiles import load_profiles
from generation.suites.yaml_source import SuiteError
from ranking.fitting import stale_fits
from ranking.models import Fit

LITTLE_SPACE = 1 << 30
CLOCKS_APART = 2.0
STALE_SECONDS = 300


@dataclass(frozen=True)
class Finding:
    """The result of one check: good, a warning or bad, with how to fix it."""

    state: str
    what: str
    fix: str = ""

    def __str__(self) -> str:
        return f"{self.state:4}  {self.what}" + (f" {self.fix}" if self.fix else "")


def good(what: str) -> Finding:
    return Finding("ok", what)


def warn(what: str, fix: str) -> Finding:
    return Finding("warn", what, fix)


def bad(what: str, fix: str) -> Finding:
    return Finding("BAD", what, fix)


def examine() -> Iterator[Finding]:
    """Every finding, in the order in which to fix them; a check that crashes is itself a finding."""
    for check in CHECKS:
        try:
            yield from check()
        except Exception as error:  # a broken deployment breaks in ways nobody listed
            name = check.__name__.removeprefix("check_").replace("_", " ")
            yield bad(f"The check of {name} failed: {type(error).__name__}.", "Fix what is listed above first.")


def check_database() -> Iterator[Finding]:
    try:
        connection.ensure_connection()
    except Exception as error:  # any driver's own error class
        yield bad(f"The database does not answer ({type(error).__name__}).", "Start it, or correct DATABASE_URL.")
        return
    yield good(f"The database answers ({connection.vendor}).")
    waiting = MigrationExecutor(connection).migration_plan(MigrationExecutor(connection).loader.graph.leaf_nodes())
    if waiting:
        yield bad(f"{len(waiting)} migrations are not applied.", "Run: manage.py migrate")
    else:
        yield good("All migrations are applied.")
    if connection.vendor == "sqlite":
        mode = _value("PRAGMA journal_mode")
        is_wal = str(mode).lower() == "wal"
        yield (
            good("SQLite uses write-ahead logging (WAL).")
            if is_wal
            else bad(
                f"SQLite's journal mode is {mode}, so readers block writers.",
                "Move the file off network disks; WAL needs a local one.",
            )
        )


def _value(query: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(query)
        return cursor.fetchone()[0]


def check_clock() -> Iterator[Finding]:
    if connection.vendor != "postgresql":
        return
    moment: datetime = _value("SELECT clock_timestamp()")
    apart = abs((moment - now()).total_seconds())
    if apart > CLOCKS_APART:
        yield bad(
            f"This machine's clock and the database's are {apart:.0f} s apart.",
            "Run NTP on both: leases depend on the clock.",
        )
    else:
        yield good("The clocks agree.")


def check_queue() -> Iterator[Finding]:
    connection = queue_connection(settings.REDIS_URL)
    try:
        connection.ping()
    except Exception as error:
        yield bad(
            f"The queue does not answer ({type(error).__name__}).", "Start Valkey or Redis, or correct REDIS_URL."
        )
        return
    yield good("The queue answers.")
    if _is_kept(connection):
        yield good("The queue is persistent.")
    else:
        yield warn(
            "The queue loses its jobs on a restart.", "Set `appendonly yes`; otherwise work waits for the sweeper."
        )
    for name, number in workers_by_queue(connection).items():
        if number:
            yield good(f"{number} worker{'s' if number > 1 else ''} for {name}.")
        else:
            yield bad(f"No worker for {name}.", f"Start one: manage.py work {name}")
    beat = seconds_since_beat(connection)
    if beat is None or beat > 4 * settings.SWEEP_SECONDS:
        last = "No sweep in the last day." if beat is None else f"The last sweep was {beat:.0f} s ago."
        yield bad(last, "Start one: manage.py sweep --forever")
    else:
        yield good("The sweeper is running.")


def _is_kept(connection: Redis) -> bool:
    if int(connection.info("persistence").get("aof_enabled", 0)):
        return True
    try:
        return bool(connection.config_get("save").get("save"))
    except RedisError:  # a hosted queue hides its configuration, and its operator takes care of this
        return True


def check_suites() -> Iterator[Finding]:
    loaded = load_suites(settings.SUITES_DIR)
    for suite in loaded:
        if isinstance(suite, BrokenSuite):
            yield bad(
                f"The suite {suite.slug} does not load: {suite.error}", "Fix its YAML; running runs are not affected."
            )
    yield good(f"{sum(not isinstance(suite, BrokenSuite) for suite in loaded)} suites load.")
    try:
        load_profiles(settings.SUITES_DIR / "providers.yaml")
    except (SuiteError, OSError) as error:
        yield bad(f"providers.yaml does not load: {error}", "Fix it; until then no run can be started.")


def check_providers() -> Iterator[Finding]:
    """Keys and addresses that open runs with work left need, as their frozen profiles say."""
    waiting = Run.objects.filter(drawing_state=Run.Drawing.OPEN, samples__in=Sample.objects.unended()).distinct()
    profiles = {str(row): row for run in waiting for row in run.models.values_list("profile", flat=True)}
    for profile in profiles.values():
        name, key = profile.get("name", "?"), profile.get("key_env", "")
        if key and not os.environ.get(key):
            yield bad(f"Open runs ask {name}, and {key} is not set.", "Set it where the workers run, and restart them.")
        elif key:
            yield good(f"{key} is set for {name}.")
        if profile.get("kind") == "demo":
            yield _demo_answers()


def _demo_answers() -> Finding:
    parts = urlsplit(os.environ.get("DEMO_PROVIDER_URL", ""))
    try:
        with socket.create_connection((parts.hostname or "127.0.0.1", parts.port or 80), timeout=2):
            return good("The demo provider answers.")
    except OSError:
        return bad("Demo runs are open and the demo provider does not answer.", "Start it: python -m generation.demo")


def check_web() -> Iterator[Finding]:
    if settings.DEBUG:
        yield bad("DEBUG is on: errors show internals to anyone.", "Unset DEBUG.")
    if not settings.SITE_URL:
        yield warn(
            "SITE_URL is not set, so cookies are also sent without TLS.", "Set it to https://… once a proxy serves TLS."
        )
    elif urlsplit(settings.SITE_URL).hostname not in [host.lstrip(".") for host in settings.ALLOWED_HOSTS]:
        yield bad(f"{settings.SITE_URL} is not among ALLOWED_HOSTS.", "Add its host name, or every page answers 400.")
    else:
        yield good(f"Pages are served as {settings.SITE_URL}.")
    if "*" in settings.ALLOWED_HOSTS:
        yield bad("ALLOWED_HOSTS allows any name.", "List the site's own host names.")
    if settings.SITE_URL.startswith("https://") and not settings.PROXIES:
        yield warn(
            "SITE_URL is https and PROXIES is 0.",
            "Set PROXIES=1 if a proxy terminates TLS; otherwise pages redirect for ever.",
        )
    if not settings.DEBUG and not (settings.STATIC_ROOT / "staticfiles.json").exists():
        yield bad(f"No static files in {settings.STATIC_ROOT}.", "Run: manage.py collectstatic --noinput")


def check_secrets() -> Iterator[Finding]:
    path = settings.VAR_DIR / "secret_key"
    if os.environ.get("SECRET_KEY") or os.environ.get("SECRET_KEY_FILE"):
        yield good("The secret key comes from the environment.")
    elif path.exists() and path.stat().st_mode & 0o077:
        yield bad(f"{path} can be read by others.", f"Run: chmod 600 {path}")
    else:
        yield good(f"The secret key is in {path}, readable only by its owner.")


def check_notices() -> Iterator[Finding]:
    if settings.NOTIFY_WEBHOOK:
        try:
            checked_webhook(settings.NOTIFY_WEBHOOK)
            yield good("NOTIFY_WEBHOOK is a valid address.")
        except ImproperlyConfigured as error:
            yield bad(str(error), "Correct it, or unset it.")
    if settings.NOTIFY_EMAIL and is_loopback(settings.EMAIL_HOST):
        yield warn("E-mail goes to a mail server on this machine.", "Set EMAIL_HOST if there is none here.")


def check_machine(*, little: int = LITTLE_SPACE) -> Iterator[Finding]:
    free = shutil.disk_usage(settings.VAR_DIR).free
    if free < little:
        yield bad(
            f"Only {free / 1e9:.1f} GB are free where {settings.VAR_DIR} is.",
            "Free some space: a full disk stops everything.",
        )
    else:
        yield good(f"{free / 1e9:.0f} GB of disk are free.")


def check_formats() -> Iterator[Finding]:
    names = format_names()
    used = set(Run.objects.values_list("format", flat=True).distinct())
    for name in sorted(used - set(names)):
        yield bad(
            f"Some runs have the format {name!r}, which is not installed.",
            "Install the package that provides it; until then their drawings are shown as text.",
        )
    for name in names:
        if missing := get_format(name).missing():
            yield warn(f"The format {name} is not complete here.", missing)
    yield good(f"{len(names)} formats are installed.")


def check_fits() -> Iterator[Finding]:
    behind = [run for run, _ in stale_fits(Fit.Kind.FAST) if seconds_behind(run) > STALE_SECONDS]
    if behind:
        yield bad(
            f"{len(behind)} leaderboards are over {STALE_SECONDS // 60} minutes behind their votes.",
            "Start: manage.py refit --forever, and manage.py work fit",
        )
    else:
        yield good("Leaderboards are up to date.")


CHECKS: tuple[Callable[[], Iterator[Finding]], ...] = (
    check_database,
    check_clock,
    check_queue,
    check_suites,
    check_providers,
    check_web,
    check_secrets,
    check_notices,
    check_machine,
    check_formats,
    check_fits,
)
