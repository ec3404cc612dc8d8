"""Webhooks: signed word of a run, sent until it arrives, to public addresses only, and nothing that breaks blindness."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
from datetime import timedelta
from http.server import BaseHTTPRequestHandler
from ipaddress import ip_address

import pytest
from django.utils.timezone import now

from generation.models import Event, Run
from generation.runs.errors import RunError
from generation.runs.lifecycle import pause_run
from judging.curating.runs import set_judging
from ranking.fitting import fit_run
from ranking.models import Delivery, Webhook
from ranking.tokens import create_token
from ranking.webhooks import sending
from ranking.webhooks.addresses import AddressError, checked_url, is_public, resolved
from ranking.webhooks.news import plan_deliveries
from ranking.webhooks.sending import MOST_TRIES, send_deliveries
from ranking.webhooks.subscriptions import create_webhook, secret_of
from tests.judging.make import make_curator
from tests.listening import Listening
from tests.ranking.archive_run import make_judged_run

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module", autouse=True)
def judged(module_rows):
    return make_judged_run().pk


@pytest.fixture
def run(judged):
    return Run.objects.get(pk=judged)


@pytest.fixture
def receiver(settings):
    """A server on this machine that notes what it is sent and answers as planned, else 204."""
    settings.WEBHOOKS_TO_PRIVATE = True
    plan, taken = [], []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            taken.append((self.headers, self.rfile.read(int(self.headers["Content-Length"]))))
            status = plan.pop(0) if plan else 204
            self.send_response(status)
            if status == 302:
                self.send_header("Location", "http://127.0.0.1:1/")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *words):
            pass

    with Listening(Handler) as server:
        yield f"{server.url}/hook?of=mine", plan, taken


def messages(taken):
    return [json.loads(body) for _, body in taken]


def is_verified(secret, headers, body):
    """As the Standard Webhooks specification has receivers do it: the key is what `whsec_` stands before, decoded."""
    key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    signed = b".".join([headers["Webhook-Id"].encode(), headers["Webhook-Timestamp"].encode(), body])
    version, _, signature = headers["Webhook-Signature"].partition(",")
    expected = hmac.new(key, signed, hashlib.sha256).digest()
    return 24 <= len(key) <= 64 and version == "v1" and base64.b64decode(signature) == expected


def make_due():
    Delivery.objects.filter(sent_at=None).update(next_at=now())


def test_a_change_of_the_run_is_told_once_and_signed(run, receiver):
    url, _, taken = receiver
    webhook = create_webhook(run=run, url=url, kinds=["run"], by=None)
    pause_run(run, reason="a secret reason")

    assert (plan_deliveries(), plan_deliveries(), send_deliveries(), send_deliveries()) == (1, 0, 1, 0)

    [(headers, body)] = taken
    message = json.loads(body)
    assert (message["type"], message["run"], message["suite"]) == ("run.paused", run.code, run.suite)
    assert "secret reason" not in body.decode()
    assert is_verified(secret_of(webhook), headers, body) and not is_verified(secret_of(webhook), headers, body + b" ")
    assert message["id"] == headers["Webhook-Id"] and headers["Host"].startswith("127.0.0.1:")


def test_what_did_not_arrive_is_sent_again_later_and_redirects_are_not_followed(run, receiver):
    url, plan, taken = receiver
    plan += [500, 302]
    create_webhook(run=run, url=url, kinds=["run"], by=None)
    pause_run(run)
    plan_deliveries()

    before = now()
    sent = [send_deliveries()]
    waiting = Delivery.objects.get()
    assert waiting.next_at >= before + timedelta(seconds=60) and "status 500" in waiting.error
    for _ in range(3):
        sent.append(send_deliveries())  # not due yet, then due
        make_due()

    assert (sent, len(taken)) == ([0, 0, 0, 1], 3)
    assert len({headers["Webhook-Id"] for headers, _ in taken}) == 1
    assert (Webhook.objects.get().failures, Delivery.objects.get().error) == (0, "")


def test_an_address_that_never_answers_is_disabled_with_a_notice(run, receiver, client):
    url, plan, taken = receiver
    plan += [503] * MOST_TRIES
    webhook = create_webhook(run=run, url=url, kinds=["run"], by=None)
    pause_run(run)
    plan_deliveries()

    for _ in range(MOST_TRIES + 3):
        send_deliveries()
        make_due()

    webhook.refresh_from_db()
    assert len(taken) == webhook.failures == MOST_TRIES and "status 503" in webhook.disabled_reason
    assert run.events.filter(verb=Event.Verb.DISABLE_WEBHOOK).exists()
    client.force_login(make_curator())
    assert "any more" in client.get(f"/runs/{run.code}/webhooks/").content.decode()
    waits = sum(sending.FIRST_WAIT * 2**tries for tries in range(MOST_TRIES - 1))
    assert timedelta(days=1) < timedelta(seconds=waits) < timedelta(days=1.5)


def test_nothing_is_told_while_people_judge_that_could_name_anybody(run, receiver):
    url, _, taken = receiver
    create_webhook(run=run, url=url, kinds=["run", "votes", "fits"], by=None)
    fit_run(run)
    names = {word for entrant in run.entrants.all() for word in (entrant.name, entrant.label, entrant.code)}
    judges = set(run.seats.values_list("pseudonym", flat=True))

    plan_deliveries()
    send_deliveries()
    blind = messages(taken)
    assert [(each["type"], each["data"]["milestone"]) for each in blind] == [("votes.milestone", 50)]
    set_judging(run=run, verb="close", by=None)
    fit = fit_run(run)
    plan_deliveries()
    send_deliveries()

    types = {each["type"] for each in messages(taken)}
    assert types == {"votes.milestone", "judging.closed", "fit.made"}
    assert fit.code in json.dumps(messages(taken))
    assert not any(word in body.decode() for _, body in taken for word in names | judges)


@pytest.mark.parametrize(
    "address",
    [
        *(
            "127.0.0.1",
            "10.0.0.1",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "224.0.0.1",
        ),
        *("::1", "fe80::1", "fc00::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "::"),
        *("fec0::1", "::127.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b:1::7f00:1"),
    ],
)
def test_no_private_address_is_connected_to(address):
    assert not is_public(ip_address(address))
    host = f"[{address}]" if ":" in address else address
    with pytest.raises(AddressError, match="private"):
        resolved(checked_url(f"https://{host}/"))


def test_a_private_address_is_refused_when_a_webhook_is_made(run):
    with pytest.raises(RunError, match="is private"):
        create_webhook(run=run, url="https://127.0.0.1/hook", kinds=["run"], by=None)


def test_public_addresses_are():
    assert is_public(ip_address("93.184.216.34")) and is_public(ip_address("2606:2800:220:1::1"))


@pytest.mark.parametrize(
    "url",
    [
        *("http://example.org/", "ftp://example.org/", "https://", "https://a:b@example.org/", "https://x/#f", "x"),
        *("https://example.org:99999/", "https://ex ample.org/", "https://example.org/\n", "file:///etc/passwd"),
    ],
)
def test_an_address_that_is_none_is_refused(run, url):
    with pytest.raises(RunError):
        create_webhook(run=run, url=url, kinds=["run"], by=None)


def test_a_name_that_leads_home_is_refused_when_it_is_connected_to(run):
    """As a name whose address changed since would be: it is looked up for each try, and that address is used."""
    create_webhook(run=run, url="https://localhost:9/", kinds=["run"], by=None)
    pause_run(run)
    plan_deliveries()

    assert send_deliveries() == 0
    assert "private" in Delivery.objects.get().error


def test_a_name_that_is_looked_up_for_too_long_holds_no_worker(run, monkeypatch):
    answered = threading.Event()
    monkeypatch.setattr(sending, "resolved", lambda parts: answered.wait(60))
    create_webhook(run=run, url="https://example.org/", kinds=["run"], by=None)
    pause_run(run)
    plan_deliveries()

    assert send_deliveries(deadline=0.05) == 0 and not answered.is_set()
    answered.set()
    assert "No answer within" in Delivery.objects.get().error


def test_curators_create_and_disable_it_on_its_page_and_by_the_api(run, client):
    carol = make_curator()
    client.force_login(carol)
    page = client.post(f"/runs/{run.code}/webhooks/", {"url": "https://example.org/a", "kinds": ["votes"]})
    one = run.webhooks.get()
    assert secret_of(one) in page.content.decode()
    assert secret_of(one) not in client.get(f"/runs/{run.code}/webhooks/").content.decode()
    token = create_token(label="x", by=carol, role="curate", run=run, expires_at=now() + timedelta(days=1))[1]
    headers = {"Authorization": f"Bearer {token}"}
    address = f"/api/v1/runs/{run.code}/webhooks"

    made = client.post(address, {"url": "https://example.org/b"}, content_type="application/json", headers=headers)
    refused = client.post(address, {"url": "http://10.0.0.1/"}, content_type="application/json", headers=headers)
    ended = client.delete(f"{address}/{one.code}", headers=headers).json()
    listed = client.get(address, headers=headers).json()["data"]

    assert (made.status_code, refused.status_code) == (201, 409) and made.json()["secret"].startswith("whsec_")
    assert ended["disabled_at"] and [bool(row["disabled_at"]) for row in listed] == [True, False]
    assert all("secret" not in row for row in listed)
