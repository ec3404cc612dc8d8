"""script/bench drawing [--full] [--json FILE]: three worker hosts draw one run of 20,000 samples, 200 calls at once; the books agree.

The deployment is that of `partitions`, and nothing is cut. The provider takes about two seconds for an answer and writes its bill.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import httpx

from benchmarks.figures.table import Row, make_parser, show, write_json
from benchmarks.hosts.topology import Topology, topology
from tests.network import NoNetworks

SAMPLES = {False: 1_000, True: 20_000}
AT_ONCE = 200


def draw(site: Topology, samples: int) -> Row:
    os.environ |= site.environment("worker3") | {"DJANGO_SETTINGS_MODULE": "benchsite.settings", "LOG_LEVEL": "ERROR"}
    import django

    django.setup()
    from generation.models import ProviderCall
    from generation.runs.lifecycle import start_run
    from tests.generation.drawing_room import MASTER, make_suite

    suite = make_suite(models=[MASTER], prompts=samples // 4, attempts=4, concurrency=AT_ONCE)
    begun, most = time.monotonic(), [0]
    run = start_run(suite)

    def drawn() -> bool:
        most.append(ProviderCall.objects.filter(run=run, outcome="open").count())
        return not run.samples.unended().exists()

    site.wait(drawn, "everything being drawn", patience=3_000)
    return {"seconds": round(time.monotonic() - begun), "most_at_once": max(most), **reckon(site, run)}


def reckon(site: Topology, run: Any) -> Row:
    """Samples, calls and money of a run against what the provider wrote down."""
    from generation.models import ProviderCall, Sample
    from tests.generation.drawing_room import assert_invariants

    site.wait(lambda: not ProviderCall.objects.filter(outcome="open").exists(), "every call being settled")
    certificate = str(site.folder / "provider-files" / "fullchain.pem")
    bill = httpx.get(f"{site.provider_url}/bill?log=0", verify=certificate, trust_env=False).json()
    broken = ""
    try:
        assert_invariants(run, billed_nano=bill["total_nano"], requests=bill["requests"])
    except AssertionError as error:
        broken = str(error) or "an invariant"
    states = Sample.objects.filter(run=run).progress()
    samples = sum(states.values())
    return {
        "samples": samples,
        "samples_lost": samples - states["drawn"],
        "samples_asked_again": bill["requests"] - samples,
        "money": not broken,
        "broken": broken,
    }


def main() -> int:
    options = make_parser(__doc__, "20,000 samples instead of 1,000: some minutes").parse_args()
    try:
        with topology(web_workers=1, durable=options.full) as site:
            figures = draw(site, SAMPLES[options.full])
    except NoNetworks as error:
        print(f"Not run: {error}.", file=sys.stderr)
        return 3
    show("Drawing on three hosts", [{"": key, "found": str(value)} for key, value in figures.items()])
    write_json(options.json, figures)
    return 1 if figures["samples_lost"] or figures["samples_asked_again"] or figures["broken"] else 0


if __name__ == "__main__":
    sys.exit(main())
