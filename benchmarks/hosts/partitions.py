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
from dataclasses import replace

import httpx

from benchmarks.figures.table import Row, make_parser, show, write_json
from benchmarks.hosts.crowd import Crowd
from benchmarks.hosts.drawing import reckon
from benchmarks.hosts.faults import all_faults
from benchmarks.hosts.surfaces import HEADERS, Watch
from benchmarks.hosts.topology import SITE, WEB, Topology, topology
from tests.network import NoNetworks

SURFACES = ("log", "readyz", "metrics", "doctor")
JUDGES, AT_ONCE = 20, 2
SAMPLES, PROMPTS = {False: 240, True: 3_600}, {False: 10, True: 80}  # more than is drawn and judged meanwhile
CALLS = {"DRAW_DEADLINE": "60", "LEASE_MARGIN": "10"}


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

        self.faults = all_faults(site)
        self.site, self.rows, self.slowest = site, list[Row](), (0.0, "")
        self.judged = make_run(entrants=6, prompts=PROMPTS[full], attempts=2)
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

    def untroubled(self) -> bool:
        """No host says any more what it did not reach a while ago."""
        return "benchsite_host_trouble{" not in self.get("web2", "/metrics").text

    def get(self, host: str, path: str) -> httpx.Response:
        address = f"http://{self.site.net[host].address}:8000{path}"
        return httpx.get(address, headers=HEADERS, timeout=10, trust_env=False)

    def calm(self) -> float:
        """Seconds until all was well again."""
        return self.site.wait(self.ready, "all being well", patience=180)

    def suffer(self, *names: str, patience: float) -> None:
        """Cut these cables at the same moment, look for every sign, and mend them."""
        faced = [self.faults[name] for name in names]
        before = len(self.crowd.ledger)
        signs = [replace(sign) for fault in faced for sign in fault.signs]
        if any("host_trouble" in sign.pattern for sign in signs):
            self.site.wait(self.untroubled, "no trouble being told")
        for fault in faced:
            fault.begin()
        watch = Watch(self.site, signs, patience=patience)
        watch.wait()
        self.slowest = max(self.slowest, (watch.slowest, watch.slowest_page))
        for fault in faced:
            fault.end()
        well = round(self.calm(), 1)
        for fault in faced:
            mine, signs = signs[: len(fault.signs)], signs[len(fault.signs) :]
            seconds = dict.fromkeys(SURFACES) | {sign.surface: sign.seconds for sign in mine}
            unseen = [f"{sign.surface} of {sign.host}" for sign in mine if sign.seconds is None]
            row = {"fault": fault.name, **seconds, "well_after": well, "votes": len(self.crowd.ledger) - before}
            self.rows.append(row | {"unseen": ", ".join(unseen)})
            print("  ".join(f"{key} {value}" for key, value in self.rows[-1].items()), flush=True)

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

        from generation.models import Run, Sample

        self.crowd.stop()
        connection.close()
        Run.objects.filter(pk=self.drawn.pk).update(concurrency=16)
        samples = Sample.objects.filter(run=self.drawn)
        self.site.wait(lambda: not samples.unended().exists(), "everything being drawn", patience=300)
        return {**self.crowd.compare(self.judged), **reckon(self.site, self.drawn)}


def main() -> int:
    parser = make_parser(__doc__, "each fault in turn; the old primary comes back as the standby")
    parser.add_argument("--rounds", type=int, default=2, help="of the full form: how often each fault comes")
    parser.add_argument("--patience", type=float, default=60, help="seconds to wait for a sign")
    options = parser.parse_args()
    begun = time.monotonic()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # its hosts end with it
    try:
        with topology(
            web_workers=4 if options.full else 2, small_disk=options.full, durable=options.full, **CALLS
        ) as site:
            figures = play(
                Storm(site, full=options.full),
                rounds=options.rounds * options.full,
                patience=options.patience,
                begun=begun,
            )
    except NoNetworks as error:
        print(f"Not run: {error}.", file=sys.stderr)
        return 3
    show("Partitions", figures["rows"])
    show("Afterwards", [{"": key, "found": str(value)} for key, value in figures["after"].items()])
    write_json(options.json, figures)
    return 0 if figures["held"] else 1


def play(storm: Storm, *, rounds: int, patience: float, begun: float) -> Row:
    up = round(time.monotonic() - begun, 1)
    with storm.crowd:
        storm.calm()
        around = storm.look_around()
        names = list(storm.faults)
        if rounds:
            for name in names[:-1] * rounds + names[-1:]:
                storm.suffer(name, patience=patience)
            storm.site.open_standby("db1", "db2")
            storm.suffer("web host from the database", patience=patience)
        else:
            storm.suffer(*names[:4], patience=patience)
            storm.suffer("primary from its standby", patience=patience)
            storm.suffer("everybody from the primary", patience=patience)
        after = storm.finish()
    zero = ("votes_lost", "votes_wrong", "refused", "tally_rows_wrong", "samples_lost", "broken")
    seen = not any(row["unseen"] for row in storm.rows)
    return {
        "rows": storm.rows,
        "around": around,
        "after": after,
        "up_s": up,
        "slowest_health_s": round(storm.slowest[0], 2),
        "slowest_health": storm.slowest[1],
        "slowest_notice_s": max(row[surface] or 0.0 for row in storm.rows for surface in SURFACES[:-1]),
        "slowest_doctor_s": max(row["doctor"] or 0.0 for row in storm.rows),
        "held": seen and all(around.values()) and not any(after[key] for key in zero),
    }


if __name__ == "__main__":
    sys.exit(main())
