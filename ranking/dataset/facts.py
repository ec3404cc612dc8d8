"""What a dataset's documents say of its run, in sentences; every number is counted here or taken from the leaderboard."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Max, Min

from benchsite.version import VERSION
from generation.formats import format_to_show
from generation.models import Run, Sample
from generation.protocols import PROTOCOLS, load, protocols_of
from judging.model_judges.grading import GRADES
from judging.model_judges.pairs import PAIRS
from judging.provenance import import_reasons, marks_of
from ranking.dataset.about import About
from ranking.dataset.columns import Published
from ranking.dataset.study_answers import SMALLEST
from ranking.dataset.tables import protocol_modules
from ranking.people import in_order_of_judges, with_labels
from ranking.words import counted


@dataclass(frozen=True)
class Facts:
    """One run in sentences."""

    code: str
    name: str
    title: str
    description: str
    keywords: list[str]
    collection: str
    timeframe: list[str]
    missing: str
    methods: str
    headline: str
    judges: str
    machines: list[str]
    privacy: str
    biases: list[str]
    limitations: list[str]
    provenance: list[str]
    warnings: list[str]
    bibtex: str
    leaderboards: dict[str, dict[str, Any]]


def facts_of(source: Published, about: About) -> Facts:
    run = source.run
    title, boards = about.title, leaderboards(source)
    labels = dict(run.entrants.values_list("name", "label"))
    entries = protocols_of(run)
    methods, headlines = [], []
    for name, board in boards.items():
        modules = protocol_modules([name])
        sentence = load(entries[name].sentence)(board, labels) if entries[name].sentence and board["overall"] else ""
        methods.append(modules[0].methods(board, labels) if modules else _scored(entries[name].rests_on, board))
        headlines.append(sentence)
    name = f"{run.suite}-{run.code}"
    people, machines = _counted_judges(source)
    simulated = run.seats.filter(is_simulated=True).exists()
    judged = _first_and_last(run)
    answers, by_people = run.samples.count(), any(entry.by_people for entry in entries.values())
    return Facts(
        code=run.code,
        name=name,
        title=title,
        description=f"{title}: {format_to_show(run.format).title} by language models, ranked by "
        f"{' and by '.join(PROTOCOLS[key].label.lower() for key in boards)}.",
        keywords=["benchmark", "human preference", "leaderboard", "language models", run.format.replace("_", " ")],
        collection=f"{run.entrants.count():,} entrants were given {run.prompts.count():,} prompts of the suite "
        f"“{run.suite}” {_asked(run)}; {answers:,} answers were requested.",
        timeframe=[moment.isoformat() for moment in judged],
        missing=_missing(run),
        methods="\n\n".join(methods),
        headline=" ".join(filter(None, headlines)),
        judges=group_sentence(people=people, machines=machines, unnamed=run.seats.filter(is_unknown=True).exists()),
        machines=_machines(run, machines),
        privacy=privacy_sentence(source, about) if source.judges else _without_judges(run),
        biases=_biases(run, simulated),
        limitations=[
            *(["Judges are not a random sample of any population."] if by_people else []),
            "Scores compare the entrants of this run on its prompts; they do not carry over to other runs.",
        ],
        provenance=_provenance(run, boards),
        warnings=_warnings(run, simulated),
        bibtex=bibtex(name, title, about),
        leaderboards=boards,
    )


def leaderboards(source: Published) -> dict[str, dict[str, Any]]:
    """The leaderboard document of each protocol, with judges by number; without model judges, whose answers no table has."""
    seats = dict(source.run.seats.order_by("id").values_list("pseudonym", "id"))
    labels = {name: source.judges[seat] or "unknown judges" for name, seat in seats.items()}
    boards = {}
    for name, result in source.results.items():
        document = {key: value for key, value in result.items() if key not in ("run", "model_judges")}
        boards[name] = in_order_of_judges(with_labels(document, labels))
    return boards


def _counted_judges(source: Published) -> tuple[int, int]:
    """People and simulated judges whose judgements the leaderboards count, each once."""
    names: set[str] = set()
    for result in source.results.values():
        judges = result.get("judges") or ()
        names |= {*judges} if isinstance(judges, dict) else {report["judge"] for report in judges}
    seats = source.run.seats.filter(pseudonym__in=names, is_unknown=False)
    machines = seats.filter(is_simulated=True).count()
    return seats.count() - machines, machines


def group_sentence(*, people: int, machines: int, unnamed: bool = False) -> str:
    groups = [
        *([f"{people:,} {'person' if people == 1 else 'people'}"] if people else []),
        *([counted(machines, "simulated judge")] if machines else []),
        *(["people whom an imported file does not name"] if unnamed else []),
    ]
    by = " and ".join(filter(None, [", ".join(groups[:-1]), *groups[-1:]]))
    return (
        f"The judgements that count were made by {by}."
        if by
        else "No judgements by people or simulated judges are counted."
    )


def privacy_sentence(source: Published, about: About) -> str:
    """What is published of judges, and what is not."""
    answers = source.study_answers
    own = (
        "What judges said about themselves in studies is in the table `answers`: each combination of answers is shared by at "
        f"least {SMALLEST} judges, and {counted(answers.left_out, 'rarer answer')} {'is' if answers.left_out == 1 else 'are'} "
        "left out."
        if about.answers
        else "What judges said about themselves is not published."
    )
    words = "What they wrote is in the table `comments`, without their numbers." if about.comments else ""
    private = "name, account or address" if words else "name, account, address or free text"
    names = f"Judges are identified by number only; no {private} of theirs is published."
    return " ".join(filter(None, [names, own, words, "Times of votes are exact."]))


def _machines(run: Run, simulated: int) -> list[str]:
    models = run.model_judges.count()
    return [
        *([f"{counted(simulated, 'simulated judge')} of Benchsite {VERSION}"] if simulated else []),
        *([f"{counted(models, 'model judge')} (answers not included in this dataset)"] if models else []),
    ] or ["none"]


def bibtex(name: str, title: str, about: About) -> str:
    authors = " and ".join(f"{{{_tex(author)}}}" for author in about.authors)
    lines = [
        f"  title = {{{_tex(title)}}},",
        f"  author = {{{authors}}},",
        f"  year = {{{about.on.year}}},",
        f"  version = {{{about.version}}},",
        f"  note = {{Dataset, made with Benchsite {VERSION}}},",
        *([f"  url = {{{about.url}}},"] if about.url else []),
    ]
    return "\n".join([f"@misc{{{name.replace('-', '_')},", *lines, "}"])


def _tex(text: str) -> str:
    escaped = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    escaped |= {mark: f"\\{mark}" for mark in "&%$#_{}"}
    return "".join(escaped.get(mark, mark) for mark in text)


def _scored(rests_on: str, board: dict[str, Any]) -> str:
    entrants, backend = len(board.get("overall", ())), board.get("backend", "")
    measured = f" Drawings were measured by the backend “{backend}”." if backend else ""
    return (
        f"{board.get('votes', 0):,} {rests_on} of {entrants:,} entrants were scored by a formula, without judges.{measured} "
        "All intervals are 95% intervals, clustered by prompt."
    )


def _first_and_last(run: Run) -> list[Any]:
    """When the first and the last judgement was made; of a run that nobody judged, when it was started."""
    tables = [
        getattr(run, entry.judgements.partition("__")[0]) for entry in protocols_of(run).values() if entry.judgements
    ]
    timed = [(rows, rows.model.MOMENT) for rows in tables if getattr(rows.model, "MOMENT", "")]
    spans = [rows.aggregate(first=Min(moment), last=Max(moment)) for rows, moment in timed]
    moments = [moment for span in spans for moment in span.values() if moment]
    return [min(moments), max(moments)] if moments else [run.created_at]


def _asked(run: Run) -> str:
    last = run.samples.aggregate(last=Max("drawn_at"))["last"] or run.created_at
    days = [f"{moment:%Y-%m-%d}" for moment in (run.created_at, last)]
    return f"on {days[0]}" if days[0] == days[1] else f"between {days[0]} and {days[1]}"


def _missing(run: Run) -> str:
    missing = run.samples.exclude(state=Sample.State.DRAWN).count()
    invalid = run.samples.filter(state=Sample.State.DRAWN).exclude(verdict=Sample.Verdict.VALID).count()
    return (
        f"Missing answers: {missing:,} of {run.samples.count():,}. Answers without a valid drawing: {invalid:,}. "
        "All are rows of the table `samples`, with the reason."
    )


def _biases(run: Run, simulated: bool) -> list[str]:
    has_sides = any(entry.has_ties for entry in protocols_of(run).values())
    biases = ["Judges may prefer a side; the leaderboard reports the side bias."] if has_sides else []
    if run.was_adaptive:
        biases.append("Pairs whose order was undecided were shown more often, at least for a time.")
    if simulated:
        biases.append("Votes of simulated judges follow a program's preferences, not people's.")
    return biases


MODEL_JUDGED = ((PAIRS, "compared pairs", "model_votes"), (GRADES, "graded drawings", "model_grades"))
MARKS = {
    "kept_out": "in no score, because the judge could know the names",
    "imported": "brought in from files or archives",
    "unconfirmed": "waiting for their judge to confirm a new password",
}


def _provenance(run: Run, boards: dict[str, Any]) -> list[str]:
    entries, lines = protocols_of(run), []
    for name in boards:
        marks, what = marks_of(run, entries[name]), entries[name].rests_on
        lines += [
            f"{what[0].upper()}{what[1:]} {says}: {marks[key]:,}." for key, says in MARKS.items() if marks.get(key)
        ]
    for kind, did, what in MODEL_JUDGED:
        if kind.is_asked_in(run) and (models := kind.judges(run).count()):
            lines.append(
                f"{counted(models, 'model judge')} {did} of this run. Their answers are in no score and not in this "
                f"dataset; `manage.py export {what}` writes them on the site that has the run."
            )
    return [*lines, *(f"Imported: {reason}" for reason in import_reasons(run))]


def _warnings(run: Run, simulated: bool) -> list[str]:
    warnings = []
    if run.is_demo or run.entrants.filter(is_demo=True).exists():
        warnings.append("Demo players, not language models, made drawings of this run.")
    if simulated:
        warnings.append("Simulated judges, not people, took part in judging.")
    return warnings


def _without_judges(run: Run) -> str:
    if run.entrants.exclude(team="").exists():
        return "The table `entrants` names who wrote the programs; nothing else in this dataset is about a person."
    return "Nothing in this dataset is about a person."
