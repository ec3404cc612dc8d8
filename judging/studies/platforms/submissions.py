"""Verbs: learn from the platform who returned a study, ran out of time, was approved or was rejected."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urljoin, urlsplit

import httpx
from django.conf import settings
from django.db.models import Q
from django.utils.timezone import now

from judging.models import Participation, Study
from judging.studies.walking import end_participation

ENDS = {"RETURNED": Participation.Outcome.RETURNED, "TIMED-OUT": Participation.Outcome.TIMED_OUT}
STATUSES = {*ENDS, "ACTIVE", "RESERVED", "AWAITING REVIEW", "APPROVED", "REJECTED", "SCREENED OUT"}
MOST_PAGES = 1_000
STUDY_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
OLDEST_SECONDS = 300  # of a message from the platform: an older one may be replayed


class PlatformError(Exception):
    """Why the platform could not be asked, as a sentence with the way out."""


@dataclass(frozen=True)
class Submission:
    """One participant's part in a study, as the platform keeps it; `id` is the SESSION_ID of its links, `study` the STUDY_ID."""

    id: str
    participant: str
    status: str
    study: str


def fetch_submissions(study_id: str) -> Iterator[Submission]:
    """All submissions of one of the platform's studies, page by page."""
    if not settings.PLATFORM_TOKEN:
        raise PlatformError("PLATFORM_TOKEN is not set: create an API token on the platform and put it there.")
    if not STUDY_ID.fullmatch(study_id):  # it came by a participant's link, which anybody can write
        raise PlatformError(f"{study_id!r} in a participant’s link is not a study id; it was skipped.")
    headers = {"Authorization": f"Token {settings.PLATFORM_TOKEN}"}
    address = urljoin(settings.PLATFORM_URL, f"/api/v1/studies/{quote(study_id, safe='')}/submissions/")
    with httpx.Client(headers=headers, timeout=30, trust_env=False) as http:
        for _ in range(MOST_PAGES):
            body = _ask(http, address)
            for row in body["results"]:
                person = str(row.get("participant_id") or row.get("participant") or "")
                yield Submission(str(row.get("id", "")), person, str(row.get("status", "")), study_id)
            following = ((body.get("_links") or {}).get("next") or {}).get("href")
            if not following:
                return
            address = urljoin(address, following)
            if urlsplit(address).netloc != urlsplit(settings.PLATFORM_URL).netloc:
                raise PlatformError("The platform’s next page is at another host; the token is not sent there.")


def _ask(http: httpx.Client, address: str) -> dict[str, Any]:
    try:
        response = http.get(address)
        response.raise_for_status()
        body = response.json()
    except httpx.HTTPStatusError as error:
        status = error.response.status_code
        hint = " Check PLATFORM_TOKEN." if status in (401, 403) else ""
        raise PlatformError(f"The platform answered {status} for {address}.{hint}") from None
    except (httpx.HTTPError, ValueError) as error:
        raise PlatformError(f"The platform could not be asked: {error}. Nothing was changed; try again.") from None
    if not isinstance(body, dict) or not isinstance(body.get("results"), list):
        raise PlatformError(f"The platform’s answer for {address} has no results.")
    return body


def take_submission(participations: Any, submission: Submission) -> bool:
    """Note the status and end who returned or ran out of time; False where nothing changed, or nobody is meant."""
    if submission.status not in STATUSES:
        return False
    row = _participation_of(participations.exclude(external_id=""), submission)
    if row is None:
        return False
    noted = Participation.objects.filter(pk=row.pk).exclude(platform_status=submission.status)
    changed = bool(noted.update(platform_status=submission.status))
    if submission.status in ENDS:
        changed |= end_participation(row, ENDS[submission.status], reason="said by the platform")
    return changed


def _participation_of(participations: Any, submission: Submission) -> Participation | None:
    """Whose submission it is: by its session, or in the same study by the person where the link had no session."""
    person = Q(external_id=submission.participant)
    same = participations.filter(parameters__SESSION_ID=submission.id) if submission.id else participations.none()
    rows = list(same[:2])
    if len(rows) > 1:  # somebody else's link has it too
        rows = list(same.filter(person)[:2])
    elif not rows:
        without = participations.exclude(parameters__has_key="SESSION_ID")
        rows = list(without.filter(person, parameters__STUDY_ID=submission.study)[:2])
    return rows[0] if len(rows) == 1 else None


@dataclass
class Poll:
    """What came of asking about a study: changed participations, the ids that were answered, and what went wrong."""

    changed: int = 0
    answered: int = 0
    errors: list[str] = field(default_factory=list)


def poll_study(study: Study) -> Poll:
    """Ask the platform about everybody who came. An id that it cannot answer keeps no other from being asked."""
    ids = study.participations.exclude(external_id="").values_list("parameters__STUDY_ID", flat=True)
    poll = Poll()
    for study_id in sorted({str(each) for each in ids if each}):
        try:
            for submission in fetch_submissions(study_id):
                poll.changed += take_submission(study.participations, submission)
            poll.answered += 1
        except PlatformError as error:
            poll.errors.append(str(error))
    return poll


def is_signed(body: bytes, *, timestamp: str, signature: str) -> bool:
    """Whether a message is the platform's own and fresh: an HMAC of its time and body with the secret that both know."""
    if not timestamp.isdecimal() or len(timestamp) > 12 or abs(now().timestamp() - int(timestamp)) > OLDEST_SECONDS:
        return False
    secret = settings.PLATFORM_WEBHOOK_SECRET.encode()
    own = base64.b64encode(hmac.new(secret, timestamp.encode() + body, hashlib.sha256).digest())
    return hmac.compare_digest(own, signature.encode("utf-8", "replace"))
