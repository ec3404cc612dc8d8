"""script/bench coverage: how often nominal 95 % intervals are right, and how often odd judges are found.

Simulated votes, so the truth is known. `--write` puts the tables into docs/statistics.md. The full form takes about 40 minutes
of one quiet core, and a few of another for other packages' intervals; `--tables` measures some of it, `--studies` more or less.
`--resume FILE` notes each table there when it is done (of adaptive pairs each study, of peers each world) and leaves out what is noted.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small matrices: more threads cost more than they give

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.figures.table import Notebook, Row, add_resume, make_parser, markdown, refresh, show, write_json
from benchmarks.numbers.anomalies import anomaly_table
from benchmarks.numbers.answer_coverage import answer_table, mean_table, paired_table
from benchmarks.numbers.check_coverage import agreement_table, best_table, camp_table, fit_table, joint_table
from benchmarks.numbers.ranking_coverage import (
    FIRST_SEED,
    coverage_table,
    gap_table,
    limit_table,
    look_table,
    plan_table,
)
from benchmarks.numbers.scope_coverage import category_table, fail_table, own_table
from benchmarks.pairs.adaptive_coverage import adaptive_table
from benchmarks.peers.coverage_peers import peer_table

PAGE = Path(__file__).resolve().parents[2] / "docs" / "statistics.md"


def main() -> None:
    parser = add_resume(
        make_parser(__doc__, "400 studies of each world instead of 40, of some tables more or fewer; peers 100")
    )
    parser.add_argument("--write", action="store_true", help="put the tables into docs/statistics.md")
    parser.add_argument(
        "--tables", nargs="+", metavar="NAME", help="measure these tables only, as docs/statistics.md marks them"
    )
    parser.add_argument(
        "--studies", type=int, metavar="N", help="so many studies of each world (of some tables more or fewer)"
    )
    options = parser.parse_args()
    runs, notes = options.studies or (400 if options.full else 40), Notebook(options.resume)
    figures: dict[str, list[Row]] = {}
    tables: dict[str, tuple[str, Callable[[], list[Row]]]] = {
        "coverage": ("Coverage of nominal 95 % intervals of ratings and gaps", lambda: coverage_table(runs=runs)),
        "plan": ("Widths as planned and as found", lambda: plan_table(figures["coverage"])),
        "limits": ("What votes cannot show", lambda: limit_table(runs=runs)),
        "gaps": ("Gaps where votes are few or maximum likelihood does not exist", lambda: gap_table(runs=runs)),
        "looks": ("Leads among equals that were ever called settled", lambda: look_table(runs=runs)),
        "categories": ("Ratings of categories", lambda: category_table(runs=runs)),
        "own": ("Judges' own rankings", lambda: own_table(runs=runs)),
        "fails": ("Fail rates", lambda: fail_table(runs=2 * runs)),
        "answers": ("Ratings of answers", lambda: answer_table(runs=runs)),
        "paired": ("Paired differences of scores", lambda: paired_table(runs=5 * runs)),
        "means": ("Means of automatic scores", lambda: mean_table(runs=10 * runs)),
        "agreement": ("Agreement of judges", lambda: agreement_table(runs=5 * runs)),
        "best": ("The leader's chance of being best, said and true", lambda: best_table(runs=3 * runs)),
        "fit": ("How often ratings are said not to describe the votes", lambda: fit_table(runs=runs)),
        "joint": ("Ratings that both terrible informs", lambda: joint_table(runs=runs)),
        "camps": ("Honest judges of the opposite taste", lambda: camp_table(runs=runs // 4)),
        "anomalies": ("How often a judge is flagged", lambda: anomaly_table(runs=runs // 2)),
        "peers": ("Coverage of ratings, ours and others', on the same votes", lambda: peers.result() if peers else []),
        "adaptive": (
            "What adaptive pairs save, and whether ratings stay true",
            lambda: adaptive_table(runs=runs // 2, notes=notes),
        ),
    }
    wanted = options.tables or list(tables)
    if unknown := set(wanted) - set(tables):
        parser.error(f"there is no table {', '.join(sorted(unknown))}; there are {', '.join(tables)}")
    beside = ThreadPoolExecutor(1)  # most of it is other packages' work
    peers = beside.submit(peer_table, runs=max(2, runs // 4), notes=notes) if "peers" in wanted else None
    for mark in wanted:
        title, measure = tables[mark]
        figures[mark] = notes.noted(f"{mark}, {runs} from {FIRST_SEED}", lambda m=measure: {"rows": m()})["rows"]
        show(title, figures[mark])
        write_json(options.json, figures)
    if options.write:
        write_tables(figures)


def write_tables(figures: dict[str, list[Row]]) -> None:
    for mark, rows in figures.items():
        refresh(PAGE, mark, markdown(rows))


if __name__ == "__main__":
    main()
