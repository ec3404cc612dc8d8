"""Word of finished and paused runs: sent at least once, to whom the operator named, and to nobody else."""

from __future__ import annotations

import json
import re
import threading
from datetime import timedelta
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.utils.timezone import now

from generation.drawing.sweeping import finish_runs
from generation.models import Event, Notice, Sample
from generation.runs import lifecycle as runs
from generation.runs.notices import checked_webhook, send_notices
from tests.generation.drawing_room import make_suite
from tests.listening import Listening

pytestmark = pytest.mark.django_db
OPERATIONS = Path(__file__).resolve().parents[3] / "docs" / "operations.md"


@pytest.fixture
def receiver():
    """A web server that keeps what it receives, and answers with the statuses it is given."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.server.received.append(json.loads(body))
            self.send_response(self.server.statuses.pop(0) if self.server.statuses else 204)
            self.end_headers()

        def log_message(self, *_):
            pass

    with Listening(Handler) as server:
        server.received, server.statuses = [], []
        yield server


@pytest.fixture
def mail_server():
    """A mail server that takes everything and keeps it."""

    class Handler(StreamRequestHandler):
        def handle(self):
            self.wfile.write(b"220 here\r\n")
            while line := self.rfile.readline():
                if line.upper().startswith(b"DATA"):
                    self.wfile.write(b"354 go on\r\n")
                    self.server.letters.append(b"".join(iter(self.rfile.readline, b".\r\n")))
                self.wfile.write(b"250 fine\r\n")

    with ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.letters = []
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def run():
    return runs.start_run(make_suite())


@pytest.fixture
def webhook(settings, receiver):
    settings.NOTIFY_WEBHOOK = f"http://127.0.0.1:{receiver.server_port}/hook"
    return receiver


def finish(run):
    Sample.objects.filter(run=run).update(state="failed")
    return finish_runs()


def test_nothing_is_sent_unless_asked_for(run, mailoutbox):
    runs.pause_run(run, reason="lunch")
    assert send_notices() == 0
    assert not mailoutbox and not Notice.objects.exists()


def test_paused_run_is_told_once(run, webhook):
    runs.pause_run(run, reason="lunch")
    assert [send_notices(), send_notices()] == [1, 0]
    [message] = webhook.received
    assert (message["event"], message["run"], message["reason"]) == ("paused", run.code, "lunch")
    assert message["samples"]["pending"] == run.samples.count()


def test_finished_run_is_told_by_mail(run, settings, mailoutbox):
    settings.NOTIFY_EMAIL, settings.SITE_URL = ["ops@example.org"], "https://bench.example.org"
    assert finish(run) == 1
    assert send_notices() == 1
    [mail] = mailoutbox
    assert mail.to == ["ops@example.org"] and mail.subject == "Tiny finished"
    assert f"https://bench.example.org/runs/{run.code}/" in mail.body and "12 failed" in mail.body


def test_mail_reaches_a_real_mail_server(run, settings, mail_server):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = mail_server.server_address
    settings.NOTIFY_EMAIL = ["ops@example.org", "lab@example.org"]
    runs.pause_run(run, reason="lunch\r\nBcc: everybody@example.org")
    assert send_notices() == 1
    [letter] = map(message_from_bytes, mail_server.letters)
    assert (letter["To"], letter["Subject"], letter["Bcc"]) == ("ops@example.org, lab@example.org", "Tiny paused", None)
    assert "lunch" in letter.get_payload() and "12 pending" in letter.get_payload()


def test_the_documented_webhook_is_the_one_that_is_sent(run, webhook):
    runs.pause_run(run)
    send_notices()
    [example] = re.findall(r"```json\n(.*?)```", OPERATIONS.read_text(), re.S)
    documented, [sent] = json.loads(example), webhook.received
    assert list(documented) == list(sent)
    assert list(documented["samples"]) == list(sent["samples"])


def test_a_run_finishes_once(run):
    assert [finish(run), finish(run)] == [1, 0]
    assert Event.objects.filter(run=run, verb="finish_run").count() == 1


def test_refused_notice_is_sent_again_later(run, webhook):
    webhook.statuses = [500]
    runs.pause_run(run)
    assert send_notices() == 0
    notice = Notice.objects.get()
    assert notice.tries == 1 and notice.next_at > now() and "500" in notice.error
    assert "/hook" not in notice.error, "the address is a secret"
    assert send_notices() == 0, "not before its time"
    Notice.objects.update(next_at=now())
    assert send_notices() == 1
    assert len(webhook.received) == 2


def test_one_deaf_channel_does_not_repeat_the_other(run, settings, webhook, mailoutbox):
    settings.NOTIFY_EMAIL = ["ops@example.org"]
    webhook.statuses = [302]
    runs.pause_run(run)
    assert send_notices() == 1
    Notice.objects.filter(sent_at=None).update(next_at=now())
    assert send_notices() == 1
    assert len(mailoutbox) == 1 and len(webhook.received) == 2


def test_receiver_that_is_away_does_not_stop_the_sweeper(run, settings):
    settings.NOTIFY_WEBHOOK = "http://127.0.0.1:9/hook"
    runs.pause_run(run)
    assert send_notices() == 0
    assert Notice.objects.get().error.startswith("ConnectError")


def test_the_past_is_not_sent_when_notices_are_switched_on(run, webhook):
    runs.pause_run(run)
    Event.objects.update(at=now() - timedelta(days=2))
    assert send_notices() == 0


@pytest.mark.parametrize("url", ["http://example.org/x", "ftp://127.0.0.1/", "file:///etc/passwd", "example.org"])
def test_webhook_is_https_or_on_this_machine(url):
    with pytest.raises(ImproperlyConfigured, match="https"):
        checked_webhook(url)
    assert checked_webhook("https://example.org/x") == "https://example.org/x"
