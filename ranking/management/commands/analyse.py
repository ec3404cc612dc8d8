"""`manage.py analyse FILE`: votes of any maker in, a leaderboard out; no database is touched."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from django.core.management.base import BaseCommand, CommandError

from benchsite.lib.progress_bar import Bar
from benchsite.lib.times import parse_time
from benchsite.version import signed, stamped
from generation.protocols import load, protocols_of
from judging.files.model_vote_lines import FIRST_ATTEMPT, read_model_votes
from judging.files.vote_files import Mapped, add_mapping, left_out
from ranking.dataset.boards import DatasetBoard, dataset_board
from ranking.dataset.reading import Dataset, dataset_notes, dataset_rates, is_dataset, open_dataset
from ranking.pairwise.as_json import leaderboard_csv, leaderboard_dict
from ranking.pairwise.as_markdown import leaderboard_markdown
from ranking.pairwise.files.samples import read_samples
from ranking.pairwise.files.votes import ReadVotes, read_votes
from ranking.pairwise.model_judges.ballots import UNKNOWN, ballots_of
from ranking.statistics.leaderboard import Leaderboard, Settings, analyse_votes
from ranking.statistics.samples import SampleRate
from ranking.statistics.votes import standing_votes
from ranking.words import notes_section

LONG_NAMES = {"json": "json", "md": "markdown", "csv": "csv"}
BAD_INPUT = 2
OF_VOTES = ("until", "exclude_judge", "ties", "fails", "samples", "model_votes", "column", "outcome")


class Command(BaseCommand):
    help = "Rank the votes of a file or a published dataset, without a database."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "file",
            type=Path,
            help="votes as JSON Lines, CSV, TSV, Parquet or JSON, of any of the makers in docs/analysis.md; a published dataset (folder or zip); with --suite that suite's own file, or a log of inspect_ai where it is scored automatically",
        )
        parser.add_argument(
            "more", type=Path, nargs="*", help="further files of votes, such as the other parts of a dump"
        )
        parser.add_argument("--samples", type=Path, help="database.jsonl, for valid rates and visual robustness")
        parser.add_argument("--model-votes", type=Path, help="model_votes.jsonl: model judges, compared with people")
        parser.add_argument(
            "--model-grades", type=Path, help="model_grades.jsonl: model judges of a rubric, with --suite"
        )
        share = "half a win each (default), or not counted; a dataset has its own default"
        parser.add_argument("--ties", choices=("half", "drop"), help=share)
        parser.add_argument("--fails", choices=("half", "drop"), help=share)
        parser.add_argument("--exclude-judge", action="append", default=[], metavar="JUDGE")
        parser.add_argument("--until", help="count the votes that stood at this time, such as 2026-05-01T12:00Z")
        parser.add_argument("--format", choices=("json", "md", "csv"), default="json")
        parser.add_argument("--out", type=Path, help="write here instead of to the screen")
        parser.add_argument("--skip-bad", action="store_true", help="skip bad lines and count them")
        add_mapping(parser)
        parser.add_argument("--suite", help="read the file by this suite's protocol (rubric, automatic)")
        parser.add_argument("--trials", type=int, help="trials a letter was given, where a suite counts them")

    def handle(self, **options: Any) -> None:
        try:
            if options["more"] and (options["suite"] or is_dataset(options["file"])):
                raise ValueError(f"{options['more'][0]}: only files of votes can be analysed together.")
            with Bar(self.stderr, "Reading") as bar:
                text = analyse_suite(options, bar) if options["suite"] else analyse_vote_file(options, bar)
            text = named_release(text, options["format"])
            if options["out"]:
                options["out"].write_text(text, encoding="utf-8")
            else:
                self.stdout.write(text, ending="")
        except (ValueError, OSError) as error:
            raise CommandError(str(error), returncode=BAD_INPUT) from error


def analyse_vote_file(options: dict[str, Any], bar: Bar) -> str:
    if options["model_grades"]:
        raise ValueError("--model-grades goes with --suite and a file of grades.")
    until = read_until(options["until"])
    mapped = Mapped.parse(options["column"], options["outcome"])
    given = read_file(options, mapped, bar)
    if isinstance(given, DatasetBoard):
        return given.written(options["format"])
    read, published = given
    for fault in read.skipped[:10]:
        bar.say(str(fault))
    if read.unanswered:
        bar.say(left_out(read.unanswered))
    votes = standing_votes(read.votes, until=until)
    timeless = int(np.isnan(read.votes.time).sum()) if until is not None else 0
    if timeless:
        bar.say(f"{timeless} votes have no voted_at, so --until leaves them out.")
    unknown = [name for name in options["exclude_judge"] if name not in read.votes.judges]
    if unknown:
        raise ValueError(f"No vote in {options['file']} is by the judge {unknown[0]!r}.")
    settings = Settings(
        ties=options["ties"] or published.ties,
        fails=options["fails"] or published.fails,
        weights={**published.weights, **dict.fromkeys(options["exclude_judge"], 0.0)},
        until=options["until"],
    )
    samples, notes = read_samples(options["samples"]) if options["samples"] else (published.samples, published.notes)
    model_votes = options["model_votes"]
    has_attempts = bool((votes.left_attempt >= 0).any())
    attempt = FIRST_ATTEMPT if has_attempts else UNKNOWN
    ballots = ballots_of(read_model_votes(model_votes, progress=bar.to), attempt=attempt) if model_votes else None
    bar.begin("Fitting")
    board = analyse_votes(votes, settings=settings, samples=samples, skipped=len(read.skipped), ballots=ballots)
    return written(board, options["format"], notes)


@dataclass(frozen=True)
class Choices:
    """What a dataset says of how its votes count; a bare file says nothing."""

    ties: str = "half"
    fails: str = "half"
    weights: dict[str, float] = field(default_factory=dict)
    samples: dict[str, SampleRate] | None = None
    notes: dict[str, str] = field(default_factory=dict)


def read_file(options: dict[str, Any], mapped: Mapped, bar: Bar) -> tuple[ReadVotes, Choices] | DatasetBoard:
    """A file of votes, or all the votes of a published dataset in order of time; of one without votes its leaderboard."""
    path, how = options["file"], {"skip_bad": options["skip_bad"], "mapped": mapped, "progress": bar.to}
    if not is_dataset(path):
        return read_votes(path, *options["more"], **how), Choices()
    with open_dataset(path) as dataset:
        files = dataset.files("votes")
        if not files:
            return unvoted_board(dataset, options)
        read = read_votes(*files, **how)
        votes = read.votes.take(np.argsort(read.votes.time, kind="stable"))
        run = dataset.run
        choices = Choices(run["ties"], run["fails"], dataset.weights, dataset_rates(dataset), dataset_notes(dataset))
    return replace(read, votes=votes), choices


def unvoted_board(dataset: Dataset, options: dict[str, Any]) -> DatasetBoard:
    if given := next((name for name in OF_VOTES if options[name]), ""):
        raise ValueError(f"{options['file']} has no votes, so --{given.replace('_', '-')} has no meaning.")
    board = dataset_board(dataset)
    if board is None:
        raise ValueError(f"{options['file']} has nothing to rank.")
    return board


def written(board: Leaderboard, form: str, notes: Mapping[str, str]) -> str:
    if form == "md":
        return "\n".join([leaderboard_markdown(leaderboard_dict(board)), *notes_section(notes.items())])
    if form == "csv":
        return leaderboard_csv(board)
    return json.dumps(leaderboard_dict(board), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def named_release(text: str, form: str) -> str:
    """The document with the release that wrote it; a table of CSV has no place for it."""
    if form == "json":
        return json.dumps(stamped(json.loads(text)), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    return signed(text) if form == "md" else text


def read_until(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        return parse_time(text).timestamp()
    except ValueError:
        raise ValueError(f"--until must be a time such as 2026-05-01T12:00:00Z, not {text!r}.") from None


def analyse_suite(options: dict[str, Any], bar: Bar) -> str:
    """The file analysis of a suite's protocol."""
    from django.conf import settings

    from generation.suites.loading import load_suite

    folder = settings.SUITES_DIR / options["suite"]
    if not folder.is_dir() or Path(options["suite"]).name != options["suite"]:
        raise ValueError(f"There is no suite {options['suite']!r} in {folder.parent.name}/.")
    suite = load_suite(folder)
    entries = protocols_of(suite).values()
    target = next((entry.analyse_file for entry in entries if entry.analyse_file), None)
    if target is None and all(entry.has_ties for entry in entries):
        return analyse_vote_file(options | {"suite": None}, bar)
    if target is None:
        raise ValueError(f"The suite {options['suite']!r} has no analysis of files.")
    if options["model_votes"]:
        raise ValueError(
            f"--model-votes has no meaning for the suite {options['suite']!r}: people do not judge it in pairs."
        )
    analyse_file = load(target)
    accepted = signature(analyse_file).parameters
    if options["trials"] is not None and ("trials" not in accepted or options["trials"] < 1):
        raise ValueError(f"--trials {options['trials']} has no meaning for the suite {options['suite']!r}.")
    if options["model_grades"] and "model_grades" not in accepted:
        raise ValueError(f"--model-grades has no meaning for the suite {options['suite']!r}: nobody grades it.")
    if options["skip_bad"] and "skip_bad" not in accepted:
        raise ValueError(f"--skip-bad is not known for the suite {options['suite']!r}: every line counts there.")
    bar.begin("Reading and scoring")
    offered = {key: options[key] for key in ("skip_bad", "trials", "model_grades")}
    offered |= {"out_format": LONG_NAMES[options["format"]], "suite": suite}
    return analyse_file(options["file"], **{name: offered[name] for name in offered if name in accepted})
