"""script/bench partitions [--full] [--json FILE]: the deployment of docs/operations.md on eleven hosts, cut apart while it works.

Judges vote through the balancer and workers draw; one cable after the other is cut without a word, the queue goes, the primary goes
and its standby is promoted. For each fault: how many seconds until it is said in a log, on `/readyz`, in `/metrics` and by
`doctor`. At the end every acknowledged vote is stored once, tallies are the sum of the votes, each sample is drawn once, and what
was spent is what the provider billed. The short form cuts four cables at once, and leaves out what takes longest.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections import Counter

import httpx

from benchmarks.faults.hosts_crowd import Crowd
from benchmarks.faults.surfaces import HEADERS, Fault, Sign, Watch
from benchmarks.faults.topology import SITE, WEB, Topology, topology
from benchmarks.figures.table import Row, make_parser, show, write_json
from tests.network import NoNetworks

SURFACES = ("log", "readyz", "metrics", "doctor")
JUDGES, SAMPLES, AT_ONCE = 6, {False: 240, True: 1_200}, 2
CALLS = {"DRAW_DEADLINE": "60", "LEASE_MARGIN": "10"}
AWAY = "database_unreachable"


def away(host: str, words: str = r"database: .+") -> list[Sign]:
    """A web host that does not get at the database says so itself, on all of its surfaces."""
    down = r"benchsite_database_up 0"
    doctor = r"BAD +The database (does not answer|answers \(postgresql\) and takes no writes).+"
    return [
        Sign("log", host, AWAY),
        Sign("readyz", host, words),
        Sign("metrics", host, down),
        Sign("doctor", host, doctor),
    ]


def told(host: str, log: str, what: str) -> list[Sign]:
    """A worker host has no pages: it tells the others by the queue, and they say so."""
    metric = rf'benchsite_host_trouble\{{host="{host}",with="{what}"\}} 1'
    return [
        Sign("log", host, log),
        Sign("metrics", "web2", metric),
        Sign("doctor", "web2", f"Host {host} does not reach the {what}"),
    ]


def faults() -> dict[str, Fault]:
    silent = [
        Sign("log", "worker2", r"(?i)redis|queue"),
        Sign("metrics", "web2", r'benchsite_workers\{queue="draw"\} [012]'),
        Sign("doctor", "web2", "Host worker2 is missing.+"),
    ]
    queue = [
        Sign("log", "web1", "queue_unreachable"),
        Sign("readyz", "web1", "queue: .+"),
        Sign("metrics", "web1", "benchsite_queue_up 0"),
        Sign("doctor", "web1", "The queue does not answer.+"),
    ]
    everybody = [("db1", host) for host in ("pool", "worker3", "db2")]
    found = [
        Fault("web host from the database", [("web1", "pool")], away("web1")),
        Fault("worker from the database", [("worker1", "pool")], told("worker1", AWAY, "database")),
        Fault("worker from the queue", [("worker2", "queue")], silent),
        Fault(
            "worker from the provider",
            [("worker3", "provider")],
            told("worker3", "provider_unreachable", "provider demo"),
        ),
        Fault("primary from its standby", [("db1", "db2")], away("web2", r"database: .*standby.*")),
        Fault("pooler from the primary", [("pool", "db1")], away("web1")),
        Fault("everybody from the queue", [], queue),
        Fault("everybody from the primary", everybody, away("web1")),
    ]
    return {fault.name: fault for fault in found}


class Storm:
    """One deployment, its crowd and its run of drawings."""

    def __init__(self, site: Topology, *, full: bool) -> None:
        os.environ |= site.environment("worker3") | {
            "DJANGO_SETTINGS_MODULE": "benchsite.settings",
            "LOG_LEVEL": "ERROR",
        }
        import django

        django.setup()
        from benchmarks.speed.judging_rows import make_judges, make_run
        from generation.runs.lifecycle import start_run
        from tests.generation.drawing_room import MASTER, make_suite

        self.site, self.rows, self.slowest = site, list[Row](), 0.0
        self.judged = make_run(entrants=6, prompts=10, attempts=2)
        sessions = make_judges(self.judged, JUDGES)
        suite = make_suite(models=[MASTER], prompts=SAMPLES[full] // 2, attempts=2, concurrency=AT_ONCE)
        self.drawn = start_run(suite)
        self.crowd = Crowd(site, self.judged.code, sessions)

    def ready(self) -> bool:
        """Both web hosts say that all is well, and three workers draw."""
        try:
            pages = [self.get(host, "/readyz") for host in WEB]
            workers = re.search(r'benchsite_workers\{queue="draw"\} (\d)', self.get("web2", "/metrics").text)
        except httpx.HTTPError:
            return False
        return all(page.status_code == 200 for page in pages) and bool(workers) and workers[1] == "3"

    def get(self, host: str, path: str) -> httpx.Response:
        address = f"http://{self.site.net[host].address}:8000{path}"
        return httpx.get(address, headers=HEADERS, timeout=10, trust_env=False)

    def calm(self) -> float:
        """Seconds until all was well again."""
        return self.site.wait(self.ready, "all being well", patience=180)

    def suffer(self, *names: str, patience: float) -> None:
        """Cut these cables at the same moment, look for every sign, and mend them."""
        faced = [faults()[name] for name in names]
        before = len(self.crowd.ledger)
        for fault in faced:
            for cable in fault.cables:
                self.site.net.cut(*cable)
            if fault.name == "everybody from the queue":
                self.site.net.unplug("queue")
        watch = Watch(self.site, [sign for fault in faced for sign in fault.signs], patience=patience)
        watch.wait()
        self.slowest = max(self.slowest, watch.slowest)
        for fault in faced:
            if fault.name == "everybody from the primary":
                self.promote()
            else:
                for cable in fault.cables:
                    self.site.net.mend(*cable)
            self.site.net.plug_in("queue")
        well = round(self.calm(), 1)
        for fault in faced:
            seconds = dict.fromkeys(SURFACES) | {sign.surface: sign.seconds for sign in fault.signs}
            unseen = [f"{sign.surface} of {sign.host}" for sign in fault.signs if sign.seconds is None]
            row = {"fault": fault.name, **seconds, "well_after": well, "votes": len(self.crowd.ledger) - before}
            self.rows.append(row | {"unseen": ", ".join(unseen)})
            print("  ".join(f"{key} {value}" for key, value in self.rows[-1].items()), flush=True)

    def promote(self) -> None:
        """As the page says: the old primary is off, the standby is promoted, the pooler is told."""
        import psycopg

        self.site.net["db1"].kill()
        with psycopg.connect(self.site.admin("db2"), autocommit=True) as connection:
            connection.execute("SELECT pg_promote()")
        self.site.write_pool("db2")
        self.site.reload_pool()

    def look_around(self) -> dict[str, bool]:
        """What the page says of the balancer: TLS, addresses of clients that nobody forges, static files from both hosts."""
        net, name = self.site.net, {"Host": SITE}
        certificate = str(self.site.folder / "balancer-files" / "fullchain.pem")
        with httpx.Client(verify=certificate, trust_env=False, timeout=30, headers=name) as client:
            extensions = {"sni_hostname": SITE}
            base = f"https://{net['balancer'].address}"
            page = client.get(f"{base}/login/", extensions=extensions)
            style = re.search(r'href="(/static/[^"]+\.css)"', page.text)[1]
            token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)[1]
            form = {"csrfmiddlewaretoken": token, "username": "nobody", "password": "wrong"}
            forged = {
                "Referer": f"https://{SITE}/login/",
                "X-Forwarded-For": "192.0.2.66",
                "Cookie": f"csrftoken={page.cookies['csrftoken']}",
            }
            client.post(f"{base}/login/", data=form, headers=forged, extensions=extensions)
            hidden = client.get(f"{base}/metrics", extensions=extensions)
        plain = httpx.get(f"http://{net['balancer'].address}/", headers=name, trust_env=False)
        from axes.models import AccessAttempt

        return {
            "plain http leads to https": plain.headers.get("Location") == f"https://{SITE}/",
            "cookies are secure": "Secure" in page.headers["Set-Cookie"],
            "the address is the client's, and forged ones are dropped": [
                *AccessAttempt.objects.values_list("ip_address", flat=True)
            ]
            == [net.here],
            "both hosts have the same static files": all(self.get(host, style).status_code == 200 for host in WEB),
            "metrics are not for the public": hidden.status_code == 404,
        }

    def finish(self) -> Row:
        """Let everything be drawn, and hold what is stored against what was promised."""
        from django.db import connection

        from generation.models import ProviderCall, Run, Sample
        from judging.models import Vote
        from judging.pairs.tallies import differences
        from tests.generation.drawing_room import assert_invariants

        self.crowd.stop()
        connection.close()
        Run.objects.filter(pk=self.drawn.pk).update(concurrency=16)
        samples = Sample.objects.filter(run=self.drawn)
        self.site.wait(lambda: not samples.unended().exists(), "everything being drawn", patience=300)
        self.site.wait(lambda: not ProviderCall.objects.filter(outcome="open").exists(), "every call being settled")
        certificate = str(self.site.folder / "provider-files" / "fullchain.pem")
        bill = httpx.get(f"{self.site.provider_url}/bill?log=0", verify=certificate, trust_env=False).json()
        broken = []
        try:
            assert_invariants(self.drawn, billed_nano=bill["total_nano"], requests=bill["requests"])
        except AssertionError as error:
            broken.append(str(error) or "an invariant")
        stored = list(Vote.objects.filter(run=self.judged).values_list("matchup__code", "outcome"))
        there, codes = set(stored), Counter(code for code, _ in stored)
        states = samples.progress()
        return {
            "votes": len(self.crowd.ledger),
            "votes_sent_again": self.crowd.again,
            "votes_lost": sum((code, outcome) not in there for code, outcome in self.crowd.ledger.items()),
            "votes_wrong": sum(number > 1 for number in codes.values())
            + sum(outcome not in self.crowd.sent.get(code, ()) for code, outcome in stored),
            "refused": self.crowd.refused,
            "tally_rows_wrong": differences(self.judged),
            "samples": sum(states.values()),
            "samples_lost": sum(states.values()) - states["drawn"],
            "samples_asked_again": bill["requests"] - sum(states.values()),
            "money": not broken,
            "broken": "; ".join(broken),
        }


def main() -> int:
    parser = make_parser(__doc__, "each fault in turn, and twice; the old primary comes back as the standby")
    parser.add_argument("--patience", type=float, default=60, help="seconds to wait for a sign")
    options = parser.parse_args()
    begun = time.monotonic()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # its hosts end with it
    try:
        with topology(web_workers=4 if options.full else 2, durable=options.full, **CALLS) as site:
            figures = play(Storm(site, full=options.full), full=options.full, patience=options.patience, begun=begun)
    except NoNetworks as error:
        print(f"Not run: {error}.", file=sys.stderr)
        return 3
    show("Partitions", figures["rows"])
    show("Afterwards", [{"": key, "found": str(value)} for key, value in figures["after"].items()])
    write_json(options.json, figures)
    return 0 if figures["held"] else 1


def play(storm: Storm, *, full: bool, patience: float, begun: float) -> Row:
    up = round(time.monotonic() - begun, 1)
    with storm.crowd:
        storm.calm()
        around = storm.look_around()
        names = list(faults())
        if full:
            for name in names[:-1] * 2 + names[-1:]:
                storm.suffer(name, patience=patience)
            storm.site.open_standby("db1", "db2")
            storm.suffer("web host from the database", patience=patience)
        else:
            storm.suffer(*names[:4], patience=patience)
            storm.suffer(names[4], patience=patience)
            storm.suffer(names[-1], patience=patience)
        after = storm.finish()
    zero = ("votes_lost", "votes_wrong", "refused", "tally_rows_wrong", "samples_lost", "broken")
    seen = not any(row["unseen"] for row in storm.rows)
    return {
        "rows": storm.rows,
        "around": around,
        "after": after,
        "up_s": up,
        "slowest_health_s": round(storm.slowest, 2),
        "slowest_notice_s": max(row[surface] or 0.0 for row in storm.rows for surface in SURFACES[:-1]),
        "slowest_doctor_s": max(row["doctor"] or 0.0 for row in storm.rows),
        "held": seen and all(around.values()) and not any(after[key] for key in zero),
    }


if __name__ == "__main__":
    sys.exit(main())
