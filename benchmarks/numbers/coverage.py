"""script/bench coverage: how often nominal 95 % intervals are right, and how often odd judges are found.

Simulated votes, so the truth is known. `--write` puts the tables into docs/statistics.md.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.figures.table import Row, make_parser, markdown, refresh, show, write_json
from benchmarks.numbers.anomalies import anomaly_table
from benchmarks.numbers.ranking_coverage import coverage_table, gap_table, limit_table
from benchmarks.numbers.scope_coverage import category_table, fail_table, own_table

PAGE = Path(__file__).resolve().parents[2] / "docs" / "statistics.md"


def main() -> None:
    parser = make_parser(__doc__, "400 runs of each world and 500 of each judge, instead of 60 and 60")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/statistics.md")
    options = parser.parse_args()
    worlds, judges = (400, 500) if options.full else (60, 60)
    tables = {
        "coverage": (
            "Coverage of nominal 95 % intervals of ratings and gaps, in the field",
            coverage_table(runs=worlds),
        ),
        "limits": ("What votes cannot show", limit_table(runs=worlds)),
        "gaps": ("Gaps where votes are few or maximum likelihood does not exist", gap_table(runs=worlds)),
        "categories": ("Ratings of categories", category_table(runs=worlds // 2)),
        "own": ("Judges' own rankings", own_table(runs=worlds // 2)),
        "fails": ("Fail rates", fail_table(runs=worlds // 2)),
        "anomalies": ("How often a judge is flagged", anomaly_table(runs=judges)),
    }
    for title, rows in tables.values():
        show(title, rows)
    figures = {mark: rows for mark, (_, rows) in tables.items()}
    write_json(options.json, figures)
    if options.write:
        write_tables(figures)


def write_tables(figures: dict[str, list[Row]]) -> None:
    for mark, rows in figures.items():
        refresh(PAGE, mark, markdown(rows))


if __name__ == "__main__":
    main()
