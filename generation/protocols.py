"""How drawings are scored. A protocol is one entry here, and two folders: `judging/NAME/` where people judge, `ranking/NAME/`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated, Any
from typing import Protocol as Shape

from generation.formats import format_to_show

# What a field holds, for the checks at start-up (`generation/checks.py`).
Words = Annotated[str, "words"]
Function = Annotated[str, "function"]
Template = Annotated[str, "template"]
Room = Annotated[str, "room"]  # a package
Page = Annotated[str, "page"]  # the name of a URL that takes a run's code
Pages = Annotated[Mapping[str, str], "pages"]  # such names, each with words


class Scored(Shape):
    """A run or a suite: what is scored, and how."""

    @property
    def format(self) -> str: ...
    @property
    def protocols(self) -> Sequence[str]: ...


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """All that the site knows of one way of scoring. Functions are dotted paths, loaded when they are first needed.

    Every protocol:

    - `label` is its name on tabs; `rests_on` says what its `votes` count.
    - `by_people`: people judge it blind, so drawings stay hidden until judging is closed. Otherwise a formula scores answers.
    - `analyse(run, *, options, full)` gives a JSON-able dict. `overall` is a list of standings, best first, each with
      `entrant` (its name) and `rating` or `score`; perhaps `low, high, rank, rank_low, rank_high` and `votes` or `n`.
      `categories` (name to such a list) and `votes` (what it all rests on) are read too. The rest is the protocol's own;
      its key `run` holds what pages need and files do not have, and is left out of downloads; the texts `run.md` and
      `run.csv` are the downloads in those forms. `options` has `ties, fails, weights, until, backend`; `full` asks for the
      slow parts where `slow` is true.
    - `template` shows it, with `fit`, `result`, `run` and what `page(fit, *, scope)` adds, if there is one.
    - `after_fit(run, fit)` is called in the transaction that stores a fit of the present votes.
    - `sentence(result, labels)` is the one line that lists of leaderboards show; `labels` are entrants' labels by name.
    - `best_drawing(run, fit)` is the leader's best drawing for shared pictures, a `ranking.best.Best` or None.
    - `practice(run, *, most)` gives pairs that visitors can try on the home page, once the run's drawings are open.
    - `covariance(result, names)` is the joint uncertainty of these entrants' ratings, as a matrix and its degrees of freedom,
      or None; without it the chances of being on the frontier take intervals as independent.
    - `prompt_records(run, prompt)` says how the drawings of one prompt did: `entrants` and `drawings` map ids to points and what
      they rest on, `votes` and `judges` count.
    - `board_pages` are its own tabs beside the ranking: names of pages that take a run's code, each with its label.
    - `entrant_page(fit, entrant)` adds to an entrant's page; without it the page shows the score and its categories.
    - `plan(scored, *, bound_nano=None)` is the panel that says how much a study of this suite or run will be able to say.
    - `bounds` are the lowest and the highest score there can be, where there are such.
    - `has_ties`: its votes have ties and fails. Curators choose how these count, and `analyse` reads its votes.jsonl.
    - `needs_rubric`: a suite that names it must have a rubric.
    - `judging_room` and `ranking_room` are its folders. Their modules `models`, `urls` and `admin` are found there, and in
      the ranking room `archive`, whose `MEMBERS` are its files in archives, exports and the API, `dataset`, what it adds to a
      published dataset, and `from_dataset`, whose `board_of(dataset, suite)` ranks one that has no votes.
    - `analyse_file(path, *, out_format)` ranks a file of grades or answers; it may also take `suite`, `skip_bad`, `trials`.
    - `by_format`: what takes its place for formats that ask for a `scoring` of their own.

    Where people judge:

    - `invitation` tells a new judge what to expect.
    - `judge_page` is where a judge goes on; `curator_page` shows curators how judging is going.
    - `import_page` and `import_label` are the curators' link to bring in what was judged elsewhere.
    - `studies_page` is the curators' page about studies, where people can judge by this protocol from a link.
    - `judged_at` leads from a run to the time of the newest judgement, to find rankings that missed one.
    - `judgements` leads from a seat to what each judgement is about, such as `votes__matchup`: rows with `kept_out` and
      `withdrawn_at`. By it public states are taken while judging is open; without it there are none.
    - `on_join(seat_id)` is called when a new judge may begin at once.
    - `judge_demo(run)` lets simulated judges judge a demo run.
    - `home(seats)` gives what `home_runs` shows of a judge's runs, and `home_help` says how to judge; both see it as `part`.
    """

    label: Words
    rests_on: Words
    by_people: bool
    analyse: Function
    template: Template
    page: Function = ""
    after_fit: Function = ""
    sentence: Function = ""
    analyse_file: Function = ""
    best_drawing: Function = ""
    practice: Function = ""
    entrant_page: Function = ""
    plan: Function = ""
    covariance: Function = ""
    prompt_records: Function = ""
    board_pages: Pages = field(default_factory=dict)
    bounds: tuple[float, float] | None = None
    has_ties: bool = False
    slow: bool = False
    needs_rubric: bool = False
    by_format: Mapping[str, Protocol] = field(default_factory=dict)
    invitation: Words = ""
    judge_page: Page = ""
    curator_page: Page = ""
    import_page: Page = ""
    import_label: Words = ""
    studies_page: Page = ""
    judged_at: str = ""
    judgements: str = ""
    on_join: Function = ""
    judge_demo: Function = ""
    home: Function = ""
    home_runs: Template = ""
    home_help: Template = ""
    judging_room: Room = ""
    ranking_room: Room = ""


PAIRWISE = Protocol(
    label="Votes",
    rests_on="votes",
    by_people=True,
    analyse="ranking.pairwise.run.analyse_run",
    template="ranking/leaderboard_pairwise.html",
    page="ranking.pairwise.page.page_context",
    after_fit="ranking.pairwise.focus.store_focus",
    sentence="ranking.pairwise.sentences.leading_sentence",
    best_drawing="ranking.pairwise.entrant_pages.best_drawing",
    practice="ranking.pairwise.practice.practice_pairs",
    entrant_page="ranking.pairwise.entrant_pages.entrant_context",
    plan="ranking.views.planning.plan_panel",
    covariance="ranking.pairwise.result.covariance_of",
    prompt_records="ranking.pairwise.prompt_page.prompt_records",
    board_pages={
        "ranking:versus": "Head to head",
        "ranking:history": "History",
        "ranking:judges": "Judges",
        "ranking:groups": "Groups",
        "ranking:model_judges": "Model judges",
        "ranking:votes": "Votes",
    },
    has_ties=True,
    slow=True,
    invitation="You see two drawings of one prompt side by side and choose the better one, with four keys.",
    judge_page="judging:judge",
    curator_page="judging:overview",
    import_page="judging:import_votes",
    import_label="Import votes",
    studies_page="judging:studies",
    judged_at="seats__last_vote_at",
    judgements="votes__matchup",
    on_join="judging.pairs.serving.take_seat",
    judge_demo="ranking.simulated.judges.judge_demo_run",
    home="judging.pairs.pages.home_part",
    home_runs="judging/_pair_runs.html",
    home_help="judging/_pair_help.html",
    judging_room="judging.pairs",
    ranking_room="ranking.pairwise",
)
RUBRIC = Protocol(
    label="Grades",
    rests_on="grades",
    by_people=True,
    analyse="ranking.rubric.run.analyse_run",
    template="ranking/leaderboard_rubric.html",
    page="ranking.rubric.page.page_context",
    sentence="ranking.rubric.page.leading_sentence",
    analyse_file="ranking.rubric.scores.analyse_file",
    best_drawing="ranking.rubric.page.best_drawing",
    board_pages={"ranking:model_graders": "Model judges"},
    bounds=(0, 100),
    needs_rubric=True,
    invitation="You see one drawing at a time and grade it on a few dimensions, with the keyboard or sliders.",
    judge_page="judging:grades",
    curator_page="judging:grade_overview",
    import_page="ranking:import_grades",
    import_label="Import grades",
    judged_at="seats__sheet__last_graded_at",
    judgements="grades__sample",
    judge_demo="ranking.simulated.grades.grade_demo_run",
    home="judging.grades.pages.home_part",
    home_runs="judging/_grade_runs.html",
    home_help="judging/_grade_help.html",
    judging_room="judging.grades",
    ranking_room="ranking.rubric",
)
AUTOMATIC = Protocol(
    label="Automatic score",
    rests_on="answers",
    by_people=False,
    analyse="ranking.automatic.run.analyse_run",
    template="ranking/leaderboard_automatic.html",
    page="ranking.automatic.page.page_context",
    sentence="ranking.automatic.page.overall_sentence",
    best_drawing="ranking.automatic.page.best_drawing",
    ranking_room="ranking.automatic",
    analyse_file="ranking.automatic.scores.analyse_file",
)
COMPETITION = replace(
    AUTOMATIC,
    label="Competition",
    rests_on="levels",
    analyse="ranking.competition.run.analyse_run",
    template="ranking/leaderboard_competition.html",
    page="ranking.competition.page.page_context",
    sentence="ranking.competition.page.overall_sentence",
    ranking_room="ranking.competition",
    analyse_file="ranking.competition.scores.analyse_file",
)

# By the name that suites use, in the order in which pages list them.
PROTOCOLS: dict[str, Protocol] = {
    "pairwise": PAIRWISE,
    "rubric": RUBRIC,
    "automatic": replace(AUTOMATIC, by_format={"competition": COMPETITION}),
}


def protocol_of(scored: Scored, name: str) -> Protocol | None:
    """The entry for one of the run's protocols; None where nothing scores it."""
    entry = PROTOCOLS.get(name) if name in scored.protocols else None
    if entry is None or not entry.by_format:
        return entry
    return entry.by_format.get(format_to_show(scored.format).scoring, entry)


def protocols_of(scored: Scored) -> dict[str, Protocol]:
    """The run's protocols that can be scored, in the suite's order."""
    return {name: entry for name in scored.protocols if (entry := protocol_of(scored, name))}


def judged_by(scored: Scored) -> list[Protocol]:
    """The protocols by which people judge this run, in the site's order."""
    return [entry for name in PROTOCOLS if (entry := protocol_of(scored, name)) and entry.by_people]


def is_measured(scored: Scored) -> bool:
    """Whether a formula scores this run's answers."""
    return any(not entry.by_people for entry in protocols_of(scored).values())


def judging_modules(name: str) -> list[Any]:
    """The module of this name in each judging room that has one."""
    return _modules([entry.judging_room for entry in PROTOCOLS.values()], name)


def ranking_modules(name: str) -> list[Any]:
    """The module of this name in each ranking room that has one."""
    entries = [each for entry in PROTOCOLS.values() for each in (entry, *entry.by_format.values())]
    return _modules([entry.ranking_room for entry in entries], name)


def _modules(rooms: Iterable[str], name: str) -> list[Any]:
    return [module for room in dict.fromkeys(rooms) if (module := module_in(room, name))]


def module_in(room: str, name: str) -> Any:
    """A module that a room may have; None where it does not."""
    path = f"{room}.{name}"
    return import_module(path) if room and find_spec(path) else None


def load(path: str) -> Callable[..., Any]:
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)
