"""The tables that every published run has. A protocol adds its own: `TABLES` in `dataset.py` of its ranking room."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Q, Sum

from generation.models import OFFENSIVE, UNFINISHED, ProviderCall, Run, Sample
from generation.protocols import PROTOCOLS, Protocol, load, module_in, protocols_of
from ranking.archive.lines import entrant_rows, measure_rows, model_rows, prompt_rows, sample_rows, undrawn_rows
from ranking.dataset.about import About
from ranking.dataset.columns import Published, Rows, Table, columns_of
from ranking.dataset.study_answers import SMALLEST, answers_to_publish
from ranking.fitting import fit_options, standing_rows
from ranking.models import Fit
from ranking.statistics.rounding import rounded

UNENDED = "unfinished"

PROMPTS = Table(
    "prompts",
    "what was asked",
    columns_of(
        prompt_id=("text", "the prompt's key in the suite"),
        code=("text", "its public id"),
        position=("whole", "its place in the suite, from 0"),
        prompt=("text", "the prompt's text"),
        subject=("text", "what is to be drawn"),
        category=("text", "its category"),
        facts=("json", "what the format needs to know about it"),
    ),
    lambda source: ({**row, "prompt_id": row["prompt"], "prompt": row["text"]} for row in prompt_rows(source.run)),
)
MODELS = Table(
    "models",
    "the language models, their prices and what is known about them",
    columns_of(
        model_id=("text", "the model as its provider names it"),
        label=("text", "the model as pages name it"),
        provider=("text", "the provider's name"),
        note=("text", "the suite author's remark"),
        extra_prompt=("text", "what was added to this model's prompts"),
        parameters=("json", "what was set for this model alone"),
        price_in_nano=("whole", "nano-dollars (10⁻⁹ US$) for a million tokens in"),
        price_out_nano=("whole", "nano-dollars for a million tokens out"),
        price_request_nano=("whole", "nano-dollars for a request"),
        price_image_nano=("whole", "nano-dollars for a picture in a request"),
        facts=("json", "organisation, weights, licence, released, context and such; a key is left out where unknown"),
        refused_reason=("text", "why the provider refused to serve it"),
    ),
    lambda source: model_rows(source.run),
)
ENTRANTS = Table(
    "entrants",
    "who is ranked: a model, or a program that ran on every model",
    columns_of(
        entrant=("text", "the name that votes, grades and standings use"),
        code=("text", "its public id"),
        label=("text", "the name on pages"),
        note=("text", "the suite author's remark"),
        model_id=("text", "the model; empty for a program"),
        team=("text", "who wrote the program"),
        turns=("json", "the program's prompts in order"),
        source=("text", "the source of a program that ran elsewhere"),
        python=("text", "the source of a program that was run in a sandbox"),
        baseline=("flag", "a program to compare with"),
        approved=("flag", "accepted by the curators"),
        disqualified=("text", "the reason; empty while it competes"),
        is_demo=("flag", "a demo player, not a language model"),
    ),
    lambda source: entrant_rows(source.run),
)
MEASURES = Table(
    "measures",
    "automatic measurements of drawings",
    columns_of(
        sample=("text", "the sample"),
        backend=("text", "which backend measured it; results of two backends are never mixed"),
        values=("json", "the measurements"),
        format_version=("whole", "version of the format's rules"),
        measured_at=("time", "when it was measured"),
    ),
    lambda source: iter(sorted(measure_rows(source.run), key=lambda row: (row["sample"], row["backend"]))),
)


def _sample_table(source: Published) -> Rows:
    run = source.run
    calls = ProviderCall.objects.filter(run=run).exclude(outcome=ProviderCall.Outcome.OPEN).order_by()
    unknown = Count("id", filter=Q(cost_nano=None))
    costs = {
        code: (None if missing else cost, tokens, spent)
        for code, cost, tokens, spent, missing in calls.values_list("sample__code").annotate(
            Sum("cost_nano"), Sum("prompt_tokens"), Sum("latency_ms"), unknown=unknown
        )
    }

    def charged(code: str) -> dict[str, Any]:
        return dict(zip(("cost_nano", "prompt_tokens", "latency_ms"), costs.get(code, (None,) * 3), strict=True))

    for row in sample_rows(run):
        withheld = OFFENSIVE in row["flags"]
        yield {
            **row,
            **charged(row["sample"]),
            "state": Sample.State.DRAWN,
            "prompt_id": row["prompt"],
            "prompt": row["prompt_text"],
            "attempt": row["attempt_number"],
            "answer": None if withheld else row["raw_output"],
            "answer_base64": None if withheld else row["raw_base64"],
            "drawing": None if withheld else row["sanitized_output"],
            "earlier_answers": [] if withheld else row["earlier_answers"],
        }
    prompts = dict(run.prompts.values_list("key", "text"))
    categories = dict(run.prompts.values_list("key", "category"))
    for row in sorted(undrawn_rows(run), key=lambda row: row["sample"]):
        ended = row["state"] in ("failed", "cancelled") and row["reason"] != UNFINISHED
        yield {
            **row,
            **charged(row["sample"]),
            "state": row["state"] if ended else UNENDED,
            "reason": "" if not ended else row["reason"],
            "prompt_id": row["prompt"],
            "prompt": prompts[row["prompt"]],
            "category": categories[row["prompt"]],
            "attempt": row["attempt_number"],
        }


SAMPLES = Table(
    "samples",
    "models' answers and the drawings found in them, including invalid and missing ones",
    columns_of(
        sample=("text", "the sample's public id, which the other tables refer to"),
        entrant=("text", "the entrant that it counts for"),
        model_id=("text", "the model that answered"),
        prompt_id=("text", "the prompt's key"),
        prompt=("text", "the prompt's text"),
        category=("text", "the prompt's category"),
        attempt=("whole", "1 for the first answer to this prompt"),
        state=("text", f"drawn, failed, cancelled or {UNENDED}"),
        drawing=("text", "the drawing; empty where there is none, or where it was withheld as offensive"),
        answer=("text", "the whole answer as text"),
        answer_base64=("text", "the answer's bytes, where they are not the UTF-8 of `answer`"),
        valid=("flag", "whether it is a valid drawing by the format's rules"),
        reason=("text", "why it is invalid"),
        detail=("text", "the reason in words; may be empty"),
        flags=("json", "other observations, such as `offensive`"),
        facts=("json", "facts that the format's reader found"),
        finish_reason=("text", "why the model stopped"),
        prompt_tokens=("whole", "tokens of all requests"),
        completion_tokens=("whole", "tokens of the answer"),
        cost_nano=("whole", "nano-dollars of all requests; empty where a price is unknown"),
        latency_ms=("whole", "total duration of all requests"),
        earlier_answers=("json", "a program's answers before the last turn"),
        questions=("json", "the requests that a Python program made"),
        drawn_at=("time", "when the answer was stored"),
        imported=("flag", "came from a file, not from a provider"),
        demo=("flag", "answered by a demo player"),
        format=("text", "the format by which answers are read"),
        format_version=("whole", "version of the rules it was read by"),
        held=("flag", "kept from judges because the drawing names its model"),
        excluded_reason=("text", "why a curator excluded it; empty otherwise"),
        failure=("text", "the last error's code, where there is no answer"),
    ),
    _sample_table,
)


def _judge_table(source: Published) -> Rows:
    for n, seat in enumerate(source.run.seats.order_by("id"), start=1):
        yield {
            "judge": f"judge-{n}",
            "unknown": seat.is_unknown,
            "simulated": seat.is_simulated,
            "weight": seat.weight,
        }


JUDGES = Table(
    "judges",
    "the judges, by number",
    columns_of(
        judge=("text", "the pseudonym, which votes and grades refer to"),
        unknown=("flag", "stands for votes of a file that names no judge; their `judge` is empty"),
        simulated=("flag", "a program, not a person"),
        weight=("number", "how much a vote counts in the ratings, 0 to 1; 0 where a curator set this judge aside"),
    ),
    _judge_table,
)


def _standing_table(source: Published) -> Rows:
    for name, result in source.results.items():
        for scope, row in standing_rows(result):
            numbers = {key: row.get(key) for key in ("low", "high", "rank", "rank_low", "rank_high")}
            score, n = row.get("rating", row.get("score")), row.get("votes", row.get("n"))
            yield {"protocol": name, "scope": scope, "entrant": row["entrant"], "score": score, "n": n, **numbers}


STANDINGS = Table(
    "standings",
    "the leaderboard as rows; `leaderboard-*.json` has all of it",
    columns_of(
        protocol=("text", "how drawings were scored (the protocol)"),
        scope=("text", "`overall`, or `category:` and its key"),
        entrant=("text", "who is ranked"),
        score=("number", "a rating (Elo), or points"),
        low=("number", "lower end of its interval; empty where there is none"),
        high=("number", "upper end"),
        rank=("whole", "rank by score"),
        rank_low=("whole", "best rank consistent with the data"),
        rank_high=("whole", "worst rank consistent with the data"),
        n=("whole", "votes, grades or samples behind it"),
    ),
    _standing_table,
)


def _answer_table(source: Published) -> Rows:
    for seat, given in source.study_answers.answers.items():
        for (study, key), answer in given.items():
            name, question = source.study_answers.questions[study, key]
            yield {
                "judge": source.judges[seat],
                "study": name,
                "question": key,
                "asked": question.text,
                "answer": answer,
            }


def _comment_table(source: Published) -> Rows:
    for (study, key), text in source.study_answers.written:
        name, question = source.study_answers.questions[study, key]
        yield {"study": name, "question": key, "asked": question.text, "comment": text}


ANSWERS = Table(
    "answers",
    f"what judges said about themselves in studies; each combination of answers is shared by at least {SMALLEST} judges",
    columns_of(
        judge=("text", "the judge, as in the table `judges`"),
        study=("text", "the study's name"),
        question=("text", "the question's key"),
        asked=("text", "the question"),
        answer=("text", "the answer; several are separated by |, and numbers are given as ranges of ten"),
    ),
    _answer_table,
)
COMMENTS = Table(
    "comments",
    "what judges wrote in studies, in alphabetical order and without their numbers",
    columns_of(
        study=("text", "the study's name"),
        question=("text", "the question's key"),
        asked=("text", "the question"),
        comment=("text", "what was written"),
    ),
    _comment_table,
)
EVERY_RUN = (PROMPTS, MODELS, ENTRANTS, SAMPLES, MEASURES, JUDGES)


def published(run: Run, about: About) -> Published:
    """Judges are numbered in the order in which they joined, as on public pages."""
    seats = list(run.seats.order_by("id").values_list("id", "is_unknown", "weight"))
    names = {seat: None if unknown else f"judge-{n}" for n, (seat, unknown, _) in enumerate(seats, start=1)}
    results = {name: full_result(run, name, entry) for name, entry in protocols_of(run).items()}
    weights = {seat: weight for seat, _, weight in seats}
    return Published(run, names, weights, results, answers_to_publish(run, about))


def full_result(run: Run, protocol: str, entry: Protocol) -> Any:
    """The newest full fit if nothing changed since; else the whole analysis of every vote, for nobody cites half of it."""
    fit = Fit.objects.newest(run, protocol, kind=Fit.Kind.FULL)
    if fit and (run.scores_changed_at is None or fit.read_at >= run.scores_changed_at):
        return rounded(fit.result)
    return rounded(load(entry.analyse)(run, options=fit_options(run), full=True))


def protocol_modules(protocols: list[str]) -> list[Any]:
    """`dataset.py` of these protocols' rooms, where they have one."""
    rooms = [PROTOCOLS[name].ranking_room for name in protocols if name in PROTOCOLS]
    return [module for room in rooms if (module := module_in(room, "dataset"))]


def tables_of(run: Run, about: About) -> list[Table]:
    """What judges said of drawings first: it is what most readers come for. What they said of themselves only by choice."""
    judged = [table for module in protocol_modules(run.protocols) for table in module.TABLES]
    chosen = [table for table, wanted in ((ANSWERS, about.answers), (COMMENTS, about.comments)) if wanted]
    return [*judged, *EVERY_RUN, STANDINGS, *chosen]
