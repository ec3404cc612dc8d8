"""Verb: publish a run as a dataset, a folder or a zip of it. The command and the button are two doors to it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchsite.lib.database.snapshots import snapshot
from benchsite.lib.progress_bar import Progress, unwatched
from benchsite.version import VERSION, stamped
from generation.models import Event, Run
from generation.runs.errors import RunError
from generation.runs.loaded import whole_config
from judging.disclosure import drawings_are_open
from ranking.archive.writing import dumped, run_document
from ranking.dataset.about import About
from ranking.dataset.card import Counts, card, citation, dictionary, licence_document, methods_document
from ranking.dataset.columns import Table
from ranking.dataset.croissant import croissant
from ranking.dataset.facts import Facts, facts_of
from ranking.dataset.files import SUMS, checksum, data_file, write_sums, write_table, write_zip
from ranking.dataset.tables import published, tables_of

FORMAT, SCHEMA = "benchsite-dataset", 1
# Of the run's document: what a reader needs, and an import that never draws or judges.
RUN = (
    *("code", "suite", "title", "label", "format", "protocols", "digest", "is_demo", "adaptive_pairs"),
    *("measure_backend", "spent_nano", "created_at", "ties", "fails"),
)


def refuse_unclosed(run: Run) -> None:
    """Nothing that is judged blind is published while anybody may still judge it; curators are no exception."""
    if not drawings_are_open(run):
        raise RunError("A run can be published as a dataset once its judging is closed: drawings and names are in it.")


def publish_dataset(run: Run, path: Path, about: About, *, by: Any = None, progress: Progress = unwatched) -> Path:
    """A new folder, or with a name that ends in .zip one file; whole or not at all."""
    refuse_unclosed(run)
    about = about.checked()
    about = replace(about, title=about.title or str(run))
    if path.exists():
        raise RunError(f"{path} exists already; choose another name.")
    with TemporaryDirectory(dir=path.parent, prefix=".dataset-") as place:
        folder = Path(place) / f"{run.suite}-{run.code}"
        _write(run, folder, about, progress)
        made = folder
        if path.suffix.lower() == ".zip":
            made = Path(place) / "dataset.zip"
            write_zip(folder, made)
        digest = checksum(folder / SUMS).digest
        shutil.move(made, path)
    facts = {"version": about.version, "licence": about.licence, "authors": list(about.authors), "sums": digest}
    Event.objects.create(run=run, actor=by, verb=Event.Verb.PUBLISH_DATASET, subject=about.version, facts=facts)
    return path


@contextmanager
def zipped_dataset(run: Run, about: About, *, by: Any = None) -> Iterator[Path]:
    """The zip for as long as somebody reads it."""
    with TemporaryDirectory() as place:
        yield publish_dataset(run, Path(place) / f"{run.suite}-{run.code}.zip", about, by=by)


def _write(run: Run, folder: Path, about: About, progress: Progress) -> None:
    folder.mkdir()
    with snapshot():
        source, tables = published(run, about), tables_of(run, about)
        counts = {table.name: write_table(table, source, folder, progress=progress) for table in tables}
        facts, config = facts_of(source, about), whole_config(run)
        document = {name: value for name, value in run_document(run).items() if name in RUN}
    for name, text in documents(about, facts, tables, counts).items():
        (folder / name).write_text(text, encoding="utf-8")
    for name, board in facts.leaderboards.items():
        (folder / f"leaderboard-{name}.json").write_text(dumped(stamped(board), indent=1) + "\n", encoding="utf-8")
    description = _description(about, document, config, counts)
    (folder / "dataset.json").write_text(dumped(description, indent=1) + "\n", encoding="utf-8")
    written = {
        name: checksum(folder / name)
        for table in tables
        for split, _ in table.splits
        if (name := data_file(table.name, split))
    }
    metadata = croissant(about, facts, tables, written)
    (folder / "croissant.json").write_text(json.dumps(metadata, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    write_sums(folder)


def documents(about: About, facts: Facts, tables: list[Table], counts: Counts) -> dict[str, str]:
    return {
        "README.md": card(about, facts, tables, counts),
        "DATA_DICTIONARY.md": dictionary(tables),
        "METHODS.md": methods_document(facts),
        "LICENSE.md": licence_document(about, facts),
        "CITATION.cff": citation(about, facts),
        "citation.bib": facts.bibtex + "\n",
    }


def _description(about: About, run: dict[str, Any], config: dict[str, Any], counts: Counts) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "schema": SCHEMA,
        "benchsite_version": VERSION,
        "version": about.version,
        "title": about.title,
        "authors": list(about.authors),
        "licence": about.licence,
        "consent": about.consent,
        "url": about.url,
        "published_on": about.on.isoformat(),
        "run": run,
        "suite": config,
        "tables": counts,
    }
