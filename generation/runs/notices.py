"""Word of a run that finished or paused, by e-mail or webhook; off until the operator names one.

Each notice is a row: claimed by a conditional UPDATE, sent, then marked. A crash in between sends it twice, never zero times.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import httpx
import structlog
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.mail import EmailMessage
from django.db.models import Exists, F, OuterRef
from django.utils.timezone import now

from benchsite.lib.hosts import is_https_or_local
from benchsite.lib.text import visible
from generation.models import Event, Notice, Run, Sample

log = structlog.get_logger(__name__)
NEWS: dict[str, str] = {Event.Verb.FINISH_RUN: "finished", Event.Verb.PAUSE_RUN: "paused"}
STALE = timedelta(days=1)  # older news is no news: switching notices on does not send the past
TIMEOUT = 5.0
FIRST_WAIT = 30  # seconds; it doubles
MOST_TRIES = 10
AT_ONCE = 20  # notices in one sweep, so that a slow receiver does not keep the sweeper from sweeping


def send_notices() -> int:
    """Send what is due; says how many were sent. Two sweepers send no more than one does."""
    senders = _senders()
    if not senders:
        return 0
    _plan(list(senders))
    due = Notice.objects.filter(channel__in=senders, sent_at=None, next_at__lte=now(), tries__lt=MOST_TRIES)
    return sum(_send(notice, senders[notice.channel]) for notice in due.select_related("event__run")[:AT_ONCE])


def _senders() -> dict[str, Callable[[Event], None]]:
    return {
        **({"email": _send_email} if settings.NOTIFY_EMAIL else {}),
        **({"webhook": _send_webhook} if settings.NOTIFY_WEBHOOK else {}),
    }


def _plan(channels: list[str]) -> None:
    """A row for each piece of news and channel that has none yet."""
    news = Event.objects.filter(verb__in=NEWS, at__gte=now() - STALE, run__isnull=False)
    for channel in channels:
        noted = Notice.objects.filter(event=OuterRef("pk"), channel=channel)
        rows = [Notice(event=event, channel=channel) for event in news.filter(~Exists(noted)).order_by("at")]
        Notice.objects.bulk_create(rows, ignore_conflicts=True)


def _send(notice: Notice, send: Callable[[Event], None]) -> bool:
    wait = timedelta(seconds=FIRST_WAIT * 2**notice.tries)
    mine = Notice.objects.filter(pk=notice.pk, sent_at=None, tries=notice.tries)
    if mine.update(tries=F("tries") + 1, next_at=now() + wait) != 1:
        return False  # another sweeper has it
    try:
        send(notice.event)
    except Exception as error:  # whatever a mail server or a stranger's web server does, the sweeper goes on
        Notice.objects.filter(pk=notice.pk).update(error=_told(error))
        log.warning("notice_not_sent", channel=notice.channel, error=type(error).__name__, tries=notice.tries + 1)
        return False
    Notice.objects.filter(pk=notice.pk).update(sent_at=now(), error="")
    return True


def _told(error: Exception) -> str:
    """In words, for curators, without the webhook's address: whoever has it may write there."""
    if isinstance(error, httpx.HTTPStatusError):
        return f"The webhook answered with status {error.response.status_code}."
    return f"{type(error).__name__}: {visible(str(error))}"[:200]


def _run(event: Event) -> Run:
    assert event.run is not None  # only events of runs are news
    return event.run


def subject_of(event: Event) -> str:
    return visible(f"{event.run} {NEWS[event.verb]}")


def page_of(event: Event) -> str:
    return f"{settings.SITE_URL.rstrip('/')}/runs/{_run(event).code}/" if settings.SITE_URL else ""


def _send_email(event: Event) -> None:
    counts = ", ".join(
        f"{number} {state}" for state, number in Sample.objects.filter(run=event.run_id).progress().items() if number
    )
    lines = [f"{subject_of(event)}.", visible(event.reason), f"Samples: {counts}.", page_of(event)]
    EmailMessage(subject_of(event), "\n\n".join(line for line in lines if line), to=settings.NOTIFY_EMAIL).send()


def _send_webhook(event: Event) -> None:
    """POST JSON; anything but a 2xx is tried again. No redirect is followed: the address is the operator's word."""
    body = {
        "event": NEWS[event.verb],
        "id": event.pk,
        "run": _run(event).code,
        "suite": _run(event).suite,
        "title": str(event.run),
        "reason": event.reason,
        "at": event.at.isoformat(),
        "samples": Sample.objects.filter(run=event.run_id).progress(),
        "page": page_of(event),
    }
    with httpx.Client(trust_env=False, follow_redirects=False, timeout=TIMEOUT) as client:
        client.post(checked_webhook(settings.NOTIFY_WEBHOOK), json=body).raise_for_status()


def checked_webhook(url: str) -> str:
    if not is_https_or_local(url):
        raise ImproperlyConfigured("NOTIFY_WEBHOOK must be an https address, or one on this machine.")
    return url
