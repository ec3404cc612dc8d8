"""script/bench endurance [--full] [--json FILE]: 300 judges vote for ten minutes over two web hosts; nothing fails, and memory is flat.

The deployment is that of `partitions`, and nothing is cut. Each judge looks at a pair for eight seconds; in the short form fewer
judges hurry. Before the clock starts, a crowd votes as fast as it may, until each web process has answered thousands of requests:
what a young process keeps (templates, statements, its threads' memory) is not what a vote leaves behind. Nor is what a run and a
judge cost once, so memory is measured from a fifth of the time on.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.figures.table import Row, make_parser, show, write_json
from benchmarks.hosts.crowd import Crowd
from benchmarks.hosts.topology import WEB, Topology, topology
from tests.network import NoNetworks, ip


@dataclass(frozen=True)
class Form:
    """One length of the bench."""

    processes: int  # of each web host
    judges: int
    pause: float
    seconds: float
    warm_votes: int  # of each process


HURRY = 0.31  # seconds: the server takes one vote in 300 ms
FORMS = {False: Form(1, 60, HURRY, 40, 800), True: Form(4, 300, 8.0, 600, 2_500)}
MOST_KB = 0.5  # a vote; 2 were once seen, over the first thousand votes of each process


def web_memory(site: Topology) -> dict[int, int]:
    """Kilobytes that each process with pages holds, by its number: those that gunicorn's own have started."""
    memory = {}
    for host in WEB:
        for pid in map(int, ip("netns", "pids", site.net[host].namespace).split()):
            status = Path(f"/proc/{pid}/status").read_text()
            about = dict(line.split(":", 1) for line in status.splitlines())
            if "gunicorn" in Path(f"/proc/{about['PPid'].strip()}/cmdline").read_text():
                memory[pid] = int(about["VmRSS"].split()[0])
    return memory


def endure(site: Topology, form: Form) -> Row:
    os.environ |= site.environment("worker3") | {"DJANGO_SETTINGS_MODULE": "benchsite.settings", "LOG_LEVEL": "ERROR"}
    import django

    django.setup()
    from benchmarks.speed.judging_rows import make_judges, make_run

    warm = make_run(prompts=80)
    with Crowd(site, warm.code, make_judges(warm, 60, "warm"), pause=HURRY) as crowd:
        site.wait(lambda: len(crowd.ledger) >= form.warm_votes * form.processes * len(WEB), "warmth", 600)
    run = make_run(prompts=80)
    crowd = Crowd(site, run.code, make_judges(run, form.judges), pause=form.pause)
    with crowd:
        time.sleep(form.seconds / 5)
        before, early = web_memory(site), len(crowd.ledger)
        time.sleep(form.seconds * 4 / 5)
        after, votes = web_memory(site), len(crowd.ledger) - early
    grown: Any = [after[pid] - kilobytes for pid, kilobytes in before.items() if pid in after]
    facts = crowd.compare(run)
    return {
        "judges": form.judges,
        "seconds": form.seconds,
        "processes": len(before),
        **facts,
        "errors": facts["votes_sent_again"] + len(facts["refused"]),
        "processes_lost": len(before) - len(grown),
        "before_mb": round(sum(before.values()) / 1024 / len(before), 1),
        "after_mb": round(sum(after.values()) / 1024 / len(after), 1),
        "kb_a_vote": round(sum(grown) / votes, 3),
    }


def main() -> int:
    options = make_parser(__doc__, "300 judges for ten minutes: a quarter of an hour").parse_args()
    form = FORMS[options.full]
    try:
        with topology(web_workers=form.processes, durable=options.full) as site:
            figures = endure(site, form)
    except NoNetworks as error:
        print(f"Not run: {error}.", file=sys.stderr)
        return 3
    show("Endurance", [{"": key, "found": str(value)} for key, value in figures.items()])
    write_json(options.json, figures)
    zero = ("errors", "votes_lost", "votes_wrong", "tally_rows_wrong", "processes_lost")
    return 0 if figures["kb_a_vote"] <= MOST_KB and not any(figures[key] for key in zero) else 1


if __name__ == "__main__":
    sys.exit(main())
