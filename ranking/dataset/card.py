"""A dataset's documents: the card for dataset hubs, the data dictionary, the methods, the licence, and how to cite it."""

from __future__ import annotations

from typing import Any

import yaml

from benchsite.lib.text import markdown_cell
from benchsite.version import VERSION
from ranking.dataset.about import LICENCES, About
from ranking.dataset.columns import TYPES, Table
from ranking.dataset.facts import Facts
from ranking.dataset.files import SUMS, data_file

Counts = dict[str, dict[str, int]]  # rows by table and split
# As dataset hubs write them.
SIZES = (
    *((10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"), (10**7, "1M<n<10M")),
    *((10**8, "10M<n<100M"), (10**9, "100M<n<1B")),
)


def card(about: About, facts: Facts, tables: list[Table], counts: Counts) -> str:
    """README.md: YAML that hubs read, and what people want to know first."""
    rows = [
        f"| `{table.name}` | {split} | {counts[table.name][split]:,} | {table.says}{f': {says}' if len(table.splits) > 1 else ''} |"
        for table in tables
        for split, says in table.splits
    ]
    parts = [
        "---\n" + yaml.safe_dump(_hub(about, facts, tables, counts), sort_keys=False, allow_unicode=True) + "---",
        f"# {markdown_cell(facts.title)}",
        *_warnings(facts),
        f"{markdown_cell(facts.description)} {facts.headline}".strip(),
        "## Tables",
        "Each table is in `data/` as Parquet and in `jsonl/` as JSON Lines. `DATA_DICTIONARY.md` explains every column.",
        "\n".join(["| table | split | rows | what |", "|---|---|---:|---|", *rows]),
        "```python\nfrom datasets import load_dataset\n\n"
        f'{tables[0].name} = load_dataset(".", "{tables[0].name}", split="{tables[0].splits[0][0]}")\n```',
        "## How it was made",
        facts.collection,
        facts.methods,
        facts.missing,
        "## People",
        f"{facts.judges} {facts.privacy}",
        f"Consent: {markdown_cell(about.consent)}",
        "## Provenance",
        _list([f"Run `{facts.code}`, published {about.on} as version {about.version} with Benchsite {VERSION}.", *facts.provenance]),
        "## Limitations",
        _list([*facts.limitations, *facts.biases]),
        "## Licence and citation",
        f"[{LICENCES[about.licence].title}]({LICENCES[about.licence].url}) by {markdown_cell(', '.join(about.authors))}. "
        "What models drew may also be subject to their providers' terms.",
        f"```bibtex\n{facts.bibtex}\n```",
        f"`{SUMS}` has the checksum of every file; `croissant.json` is machine-readable metadata.",
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def _hub(about: About, facts: Facts, tables: list[Table], counts: Counts) -> dict[str, Any]:
    total = sum(sum(by_split.values()) for by_split in counts.values())
    # A split without rows cannot be loaded by `datasets`, so the card lists none.
    filled = [(table, [split for split, _ in table.splits if counts[table.name][split]]) for table in tables]
    return {
        "pretty_name": facts.title,
        "license": LICENCES[about.licence].hub,
        "language": ["en"],
        "task_categories": ["other"],
        "tags": [keyword.replace(" ", "-") for keyword in facts.keywords],
        "size_categories": [next((name for limit, name in SIZES if total < limit), "1B<n<10B")],
        "configs": [
            {
                "config_name": table.name,
                **({"default": True} if not place else {}),
                "data_files": [{"split": split, "path": data_file(table.name, split)} for split in splits],
            }
            for place, (table, splits) in enumerate((table, splits) for table, splits in filled if splits)
        ],
    }


def dictionary(tables: list[Table]) -> str:
    parts = [
        "# Data dictionary",
        "Times are in UTC, and money is in nano-dollars (10⁻⁹ US$). An empty cell means that nothing is known. Columns of JSON "
        "hold text in Parquet and nested values in JSON Lines.",
    ]
    for table in tables:
        rows = [f"| `{column.name}` | {TYPES[column.type][0]} | {column.says} |" for column in table.columns]
        splits = _list([f"`{split}`: {says}" for split, says in table.splits])
        heads = ["| column | type | meaning |", "|---|---|---|"]
        parts += [f"## {table.name}", f"{table.says[0].upper()}{table.says[1:]}.", splits, "\n".join([*heads, *rows])]
    return "\n\n".join(parts) + "\n"


def methods_document(facts: Facts) -> str:
    parts = [
        "# Methods",
        *_warnings(facts),
        f"{facts.collection} {facts.missing}",
        facts.methods,
        f"Ratings were computed with Benchsite {VERSION}.",
    ]
    return "\n\n".join(parts) + "\n"


def licence_document(about: About, facts: Facts) -> str:
    licence = LICENCES[about.licence]
    authors = ", ".join(about.authors)
    return (
        f"# Licence and consent\n\nCopyright {about.on.year} {markdown_cell(authors)}.\n\n"
        f"This dataset is published under {licence.title} ({licence.spdx}): {licence.url}\n\n"
        "What models drew may also be subject to their providers' terms.\n\n"
        f"## Consent\n\n{markdown_cell(about.consent)}\n\n{facts.privacy}\n"
    )


def citation(about: About, facts: Facts) -> str:
    """CITATION.cff, version 1.2.0."""
    document: dict[str, Any] = {
        "cff-version": "1.2.0",
        "message": "Please cite this dataset as below.",
        "type": "dataset",
        "title": facts.title,
        "authors": [{"name": author} for author in about.authors],
        "version": about.version,
        "date-released": about.on,
        "license": about.licence,
        **({"url": about.url} if about.url else {}),
        "keywords": facts.keywords,
    }
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True)


def _warnings(facts: Facts) -> list[str]:
    return [f"> **{warning}**" for warning in facts.warnings]


def _list(lines: list[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
