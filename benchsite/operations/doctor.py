"""Checks a deployment: each check reports what it found and how to fix it."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import connection
from redis.exceptions import RedisError

from benchsite.lib.hosts import is_loopback
from benchsite.operations.findings import Finding, bad, good, warn
from benchsite.operations.metrics import seconds_behind
from benchsite.operations.service_checks import check_clock, check_database, check_hosts, check_queue
from generation.formats import format_names, get_format
from generation.models import Run, Sample
from generation.queue import queue_connection, read_presence
from generation.runs.curating import why_no_programs
from generation.runs.notices import checked_webhook
from generation.suites.loading import BrokenSuite, load_suites
from generation.suites.profiles import load_profiles
from generation.suites.yaml_source import SuiteError
from ranking.fitting import stale_fits
from ranking.models import Fit

LITTLE_SPACE = 1 << 30
STALE_SECONDS = 300


def examine() -> Iterator[Finding]:
    """Every finding, in the order in which to fix them; a check that crashes is itself a finding."""
    for check in CHECKS:
        if check in ASK_DATABASE and connection.connection is None:
            continue  # it was away a moment ago, and each of these would wait for it anew
        try:
            yield from check()
        except Exception as error:  # a broken deployment breaks in ways nobody listed
            name = check.__name__.removeprefix("check_").replace("_", " ")
            yield bad(f"The check of {name} failed: {type(error).__name__}.", "Fix what is listed above first.")


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
            "Set PROXIES=1 if a proxy terminates TLS; otherwise pages redirect forever.",
        )
    if not settings.DEBUG and not (settings.STATIC_ROOT / "staticfiles.json").exists() and not _works_only():
        yield bad(f"No static files in {settings.STATIC_ROOT}.", "Run: manage.py collectstatic --noinput")


def _works_only() -> bool:
    """Whether this host was seen, and not among those that serve pages."""
    try:
        seen = read_presence(queue_connection(settings.REDIS_URL))
    except (RedisError, OSError):
        return False
    roles = {role for host, role in seen if host == socket.gethostname()}
    return bool(roles) and "web" not in roles


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
    if settings.PYTHON_PROGRAMS:
        if why := why_no_programs():
            yield bad("Python programs are allowed, but cannot be run here.", why)
        else:
            yield good("Python programs are run in a sandbox, which was tried.")


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


ASK_DATABASE = (check_clock, check_providers, check_formats, check_fits)
CHECKS: tuple[Callable[[], Iterator[Finding]], ...] = (
    check_database,
    check_clock,
    check_queue,
    check_hosts,
    check_suites,
    check_providers,
    check_web,
    check_secrets,
    check_notices,
    check_machine,
    check_formats,
    check_fits,
)
