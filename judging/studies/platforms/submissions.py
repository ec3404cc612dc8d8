"""Verbs: learn from the platform who returned a study, ran out of time, was approved or was rejected."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx
from django.conf import settings
from django.db.models import Q
from django.utils.timezone import now

from judging.models import Participation, Study
from judging.studies.walking import end_participation

ENDS = {"RETURNED": Participation.Outcome.RETURNED, "TIMED-OUT": Participation.Outcome.TIMED_OUT}
STATUSES = {*ENDS, "ACTIVE", "RESERVED", "AWAITING REVIEW", "APPROVED", "REJECTED", "SCREENED OUT"}
MOST_PAGES = 1_000
OLDEST_SECONDS = 300  # of a message from the platform: an older one may be replayed


class PlatformError(Exception):
    """Why the platform could not be asked, as a sentence with the way out."""


@dataclass(frozen=True)
class Submission:
    """One participant's part in a study, as the platform keeps it; `id` is the SESSION_ID of its links."""

    id: str
    participant: str
    status: str


def fetch_submissions(study_id: str) -> Iterator[Submission]:
    """All submissions of one of the platform's studies, page by page."""
    if not settings.PLATFORM_TOKEN:
        raise PlatformError("PLATFORM_TOKEN is not set: create an API token on the platform and put it there.")
    headers = {"Authorization": f"Token {settings.PLATFORM_TOKEN}"}
    address = urljoin(settings.PLATFORM_URL, f"/api/v1/studies/{study_id}/submissions/")
    with httpx.Client(headers=headers, timeout=30, trust_env=False) as http:
        for _ in range(MOST_PAGES):
            body = _ask(http, address)
            for row in body["results"]:
                person = str(row.get("participant_id") or row.get("participant") or "")
                yield Submission(str(row.get("id", "")), person, str(row.get("status", "")))
            following = ((body.get("_links") or {}).get("next") or {}).get("href")
            if not following:
                return
            address = urljoin(address, following)
            if urlsplit(address).netloc != urlsplit(settings.PLATFORM_URL).netloc:
                raise PlatformError("The platform's next page is at another host; the token is not sent there.")


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
        raise PlatformError(f"The platform's answer for {address} has no results.")
    return body


def take_submission(participations: Any, submission: Submission) -> bool:
    """Note the status and end who returned or ran out of time; False where nothing changed, or nobody is meant."""
    if submission.status not in STATUSES:
        return False
    same = Q(parameters__SESSION_ID=submission.id) if submission.id else Q(pk=None)
    if submission.participant:
        same |= Q(external_id=submission.participant)
    rows = list(participations.exclude(external_id="").filter(same)[:2])
    if len(rows) != 1:
        return False
    (row,) = rows
    noted = Participation.objects.filter(pk=row.pk).exclude(platform_status=submission.status)
    changed = bool(noted.update(platform_status=submission.status))
    if submission.status in ENDS:
        changed |= end_participation(row, ENDS[submission.status], reason="said by the platform")
    return changed


def poll_study(study: Study) -> int:
    """Ask the platform about everybody who came; says for how many something changed."""
    ids = study.participations.exclude(external_id="").values_list("parameters__STUDY_ID", flat=True)
    known = sorted({str(each) for each in ids if each})
    return sum(
        take_submission(study.participations, submission)
        for study_id in known
        for submission in fetch_submissions(study_id)
    )


def is_signed(body: bytes, *, timestamp: str, signature: str) -> bool:
    """Whether a message is the platform's own and fresh: an HMAC of its time and body with the secret that both know."""
    if not timestamp.isdecimal() or len(timestamp) > 12 or abs(now().timestamp() - int(timestamp)) > OLDEST_SECONDS:
        return False
    secret = settings.PLATFORM_WEBHOOK_SECRET.encode()
    own = base64.b64encode(hmac.new(secret, timestamp.encode() + body, hashlib.sha256).digest())
    return hmac.compare_digest(own, signature.encode("utf-8", "replace"))
