"""Deliveries on their way: claimed by a conditional UPDATE, signed, sent, and sent again for a day and a half."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from urllib.parse import SplitResult

import httpx
import structlog
from django.db.models import F, QuerySet
from django.utils.timezone import now

from benchsite.lib.text import visible
from generation.queue import enqueue_if_idle
from ranking.models import Delivery, Webhook
from ranking.webhooks.addresses import AddressError, checked_url, resolved
from ranking.webhooks.news import plan_deliveries
from ranking.webhooks.subscriptions import disable_webhook, signing_key

log = structlog.get_logger(__name__)
FIRST_WAIT = 60  # seconds; it doubles, so that the last try comes after 34 hours
MOST_TRIES = 12
DEADLINE = 5.0  # seconds in all: a byte a second must not hold a worker
SLICE = 30.0  # seconds that one job sends, so that fits need not wait long for the worker
KEPT = timedelta(days=30)


def enqueue_deliveries() -> None:
    """What the clock of leaderboards calls: note the news, and wake a worker where something is due."""
    plan_deliveries()
    if due_deliveries().exists():
        enqueue_if_idle("fit", "ranking.jobs.send_webhooks")


def due_deliveries() -> QuerySet[Delivery]:
    return Delivery.objects.filter(sent_at=None, next_at__lte=now(), tries__lt=MOST_TRIES, webhook__disabled_at=None)


def send_deliveries(*, deadline: float = DEADLINE) -> int:
    """Send what is due, for a while; says how many arrived. Two workers send no more than one does."""
    Delivery.objects.filter(created_at__lt=now() - KEPT).delete()
    until, arrived = time.monotonic() + SLICE, 0
    for delivery in due_deliveries().select_related("webhook__run").defer("webhook__run__config")[:100]:
        if time.monotonic() > until:
            break
        arrived += _send(delivery, deadline)
    return arrived


def _send(delivery: Delivery, deadline: float) -> bool:
    wait = timedelta(seconds=FIRST_WAIT * 2**delivery.tries)
    mine = Delivery.objects.filter(pk=delivery.pk, sent_at=None, tries=delivery.tries)
    if mine.update(tries=F("tries") + 1, next_at=now() + wait) != 1:
        return False  # another worker has it
    status, error = _post(delivery, deadline)
    row, hook = Delivery.objects.filter(pk=delivery.pk), Webhook.objects.filter(pk=delivery.webhook_id)
    if not error:
        row.update(sent_at=now(), status=status, error="")
        hook.update(failures=0)
        return True
    row.update(status=status, error=error[:200])
    hook.update(failures=F("failures") + 1)
    log.warning("webhook_not_delivered", webhook=delivery.webhook.code, tries=delivery.tries + 1, error=error[:80])
    if delivery.tries + 1 >= MOST_TRIES:
        disable_webhook(delivery.webhook, by=None, reason=f"Nothing arrived in {MOST_TRIES} tries. {error}"[:200])
    return False


def body_of(delivery: Delivery) -> bytes:
    run = delivery.webhook.run
    document = {
        "id": delivery.code,
        "type": delivery.kind,
        "run": run.code,
        "suite": run.suite,
        "at": delivery.created_at.isoformat(),
        "data": delivery.data,
    }
    return json.dumps(document, ensure_ascii=False).encode()


def signed_headers(delivery: Delivery, body: bytes, *, at: int) -> dict[str, str]:
    """By the Standard Webhooks specification: HMAC-SHA256 over id, time and body."""
    text = f"{delivery.code}.{at}.".encode() + body
    signature = hmac.new(signing_key(delivery.webhook), text, hashlib.sha256).digest()
    return {
        "Content-Type": "application/json",
        "Webhook-Id": delivery.code,
        "Webhook-Timestamp": str(at),
        "Webhook-Signature": f"v1,{base64.b64encode(signature).decode()}",
        "User-Agent": "Benchsite-Webhooks/1",
    }


def _post(delivery: Delivery, deadline: float) -> tuple[int | None, str]:
    """The status, and what went wrong."""
    body = body_of(delivery)
    try:
        parts = checked_url(delivery.webhook.url)
        headers = signed_headers(delivery, body, at=int(time.time()))
        status = asyncio.run(asyncio.wait_for(_status(parts, body, headers), deadline))
    except AddressError as error:
        return None, str(error)
    except TimeoutError:
        return None, f"No answer within {deadline:g} seconds."
    except httpx.HTTPError as error:
        return None, f"{type(error).__name__}: {visible(str(error))}"
    return status, "" if 200 <= status < 300 else f"The address answered with status {status}."


async def _status(parts: SplitResult, body: bytes, headers: dict[str, str]) -> int:
    """The very address that was checked is connected to; the certificate must still be the host's.

    The body of the answer is not read, and no redirect followed.
    """
    address = await _address(parts)
    host = f"[{address}]" if ":" in address else address
    url = parts._replace(netloc=f"{host}:{parts.port}" if parts.port else host).geturl()
    headers = headers | {"Host": parts.netloc}
    extensions = {"sni_hostname": parts.hostname}
    async with (
        httpx.AsyncClient(trust_env=False, follow_redirects=False, timeout=DEADLINE) as client,
        client.stream("POST", url, content=body, headers=headers, extensions=extensions) as response,
    ):
        return response.status_code


async def _address(parts: SplitResult) -> str:
    """Looked up in a thread that nobody waits for beyond the deadline; the event loop would wait for one of its own."""
    executor = ThreadPoolExecutor(1)
    try:
        return await asyncio.get_running_loop().run_in_executor(executor, resolved, parts)
    finally:
        executor.shutdown(wait=False)
