"""Writing with a token: start and control runs, push drawings and votes, invite judges, open and close studies.

Each operation calls the verb that the curators' page calls, in the name of the curator who created the token.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.urls import reverse
from ninja import Path, Query, Router

from benchsite.lib.reasons import LONGEST_REASON
from benchsite.lib.text import visible
from generation.files.import_samples import import_samples
from generation.models import Run
from generation.runs.lifecycle import cancel_run, pause_run, resume_run, start_run
from generation.suites.loading import BrokenSuite, load_suites
from generation.suites.studies.faults import StudyFaultsError
from generation.suites.studies.study_files import parse_study
from generation.suites.suite import Suite
from judging.curating.invitations import create_invitations, revoke_invitation
from judging.curating.runs import STATES as JUDGING
from judging.curating.runs import set_judging
from judging.models import Invitation
from judging.studies.writing import STATES as STUDIES
from judging.studies.writing import newest_version, set_study_state, write_study
from ranking.api import bodies
from ranking.api.access import ApiRequest, actor_of, readable_run
from ranking.api.answers import Cursor, Limit, json_response, reading, rows_page, writing
from ranking.api.bodies import body_lines
from ranking.api.problems import Problem, not_found
from ranking.api.pushing import push_votes
from ranking.api.reading import study_document
from ranking.api.schemas import object_of, page_of, ref
from ranking.archive.fields import fields_of
from ranking.archive.writing import run_document
from ranking.models import AnalystToken

router = Router(tags=["Writing"])
PUSH, CURATE = AnalystToken.Role.PUSH, AnalystToken.Role.CURATE
PUSHED = object_of(
    fields_of(
        added=("whole", "rows that are new"),
        same=("whole", "rows that were there already"),
        joined=("list-", "models that are new to the run"),
    )
)


@writing(router, "/runs", "api_start_run", ref("Run"), role=CURATE, status=201)
def start(request: ApiRequest, wanted: bodies.NewRun) -> HttpResponse:
    """Start a run of a suite that is on the server. Needs a token for every run."""
    if request.auth.run_id:
        raise Problem(403, "role", "This token is for one run. Create one for every run to start another.")
    suite = _suite(wanted.suite)
    run = start_run(
        suite,
        label=wanted.label,
        models=wanted.models,
        prompts=wanted.prompts,
        attempts=wanted.attempts,
        budget="suite" if wanted.budget_usd is None else wanted.budget_usd,
        demo=wanted.demo,
        draw=wanted.draw,
        key=f"api-{request.auth.code}-{wanted.key}",
        wait=False,
        by=request.actor,
    )
    if differing := _differing(run, wanted):
        raise Problem(
            409,
            "refused",
            f"The key {wanted.key} already started run {run.code} of the suite {run.suite}; this request differs in "
            f"{' and '.join(differing)}. Use a new key for a new run.",
            errors=[{"field": name, "message": "differs from the run that this key started"} for name in differing],
        )
    return json_response(run_document(run), 201)


def _differing(run: Run, wanted: bodies.NewRun) -> list[str]:
    """What is asked for now and was not when the key was first sent; models and attempts may have joined the run since."""
    prompts = wanted.prompts is not None and {*wanted.prompts} != {*run.prompts.values_list("key", flat=True)}
    attempts = wanted.attempts is not None and wanted.attempts > run.config["generation"]["attempts_per_prompt"]
    given = {"suite": run.suite != wanted.suite, "label": run.label != wanted.label}
    return [name for name, differs in {**given, "prompts": prompts, "attempts": attempts}.items() if differs]


def _suite(slug: str) -> Suite:
    suites = {suite.slug: suite for suite in load_suites(settings.SUITES_DIR)}
    suite = suites.get(slug)
    if suite is None or isinstance(suite, BrokenSuite):
        known = ", ".join(sorted(slug for slug, each in suites.items() if not isinstance(each, BrokenSuite)))
        message = visible(f"There is no suite {slug!r} on this server; it has {known}.")
        raise Problem(422, "invalid", message, errors=[{"field": "suite", "message": message}])
    return suite


def _reason(request: ApiRequest, reason: str) -> str:
    """Whoever reads the log sees which token it was."""
    return f"{reason} (token {request.auth.label})".strip()[:LONGEST_REASON]


@writing(router, "/runs/{slug:run}/drawing", "api_set_drawing", ref("Run"), role=CURATE)
def set_drawing(request: ApiRequest, run: str, wanted: bodies.Drawing) -> HttpResponse:
    """Pause, resume or cancel drawing. A run that is so already stays as it is."""
    changed = readable_run(request, run)
    given: dict[str, Any] = {"by": request.actor, "reason": _reason(request, wanted.reason)}
    if wanted.verb == "pause":
        done = pause_run(changed, **given) or changed.drawing_state == Run.Drawing.PAUSED
    elif wanted.verb == "resume":
        budget: Any = "keep" if wanted.budget_usd is None else wanted.budget_usd
        done = resume_run(changed, budget=budget, **given) or changed.drawing_state == Run.Drawing.OPEN
    else:
        done = cancel_run(changed, **given) or changed.drawing_state == Run.Drawing.CANCELLED
    if not done:
        raise Problem(409, "refused", f"Drawing is {changed.get_drawing_state_display()}: it cannot {wanted.verb}.")
    return json_response(run_document(changed))


@writing(router, "/runs/{slug:run}/judging", "api_set_judging", ref("Run"), role=CURATE)
def set_judging_state(request: ApiRequest, run: str, wanted: bodies.State) -> HttpResponse:
    """Open, pause or close judging. A run that is so already stays as it is."""
    changed = readable_run(request, run)
    if changed.judging_state != JUDGING[wanted.verb]:
        set_judging(run=changed, verb=wanted.verb, by=request.actor, reason=_reason(request, wanted.reason))
    return json_response(run_document(changed))


@writing(
    router,
    "/runs/{slug:run}/samples",
    "api_push_samples",
    PUSHED,
    role=PUSH,
    lines=object_of(bodies.PUSHED_SAMPLE),
)
def push_samples(request: ApiRequest, run: str) -> HttpResponse:
    """Push drawings made elsewhere as JSON Lines: all of the body, or nothing.

    Model, prompt and attempt are a drawing's id: what is pushed again with the same answer is there already, and
    with another answer refused.
    """
    into, lines = readable_run(request, run), body_lines(request)
    done = import_samples(lines, run=into, source="body", by=request.actor)
    return json_response({"added": done.added, "same": done.same, "joined": done.joined})


@writing(
    router,
    "/runs/{slug:run}/votes",
    "api_push_votes",
    PUSHED,
    role=PUSH,
    lines=object_of(bodies.PUSHED_VOTE),
)
def push_vote_lines(
    request: ApiRequest,
    run: str,
    reason: str = Query(..., min_length=1, max_length=LONGEST_REASON, description="Shown on the leaderboard."),
) -> HttpResponse:
    """Push votes cast elsewhere as JSON Lines: all of the body, or nothing. Refused while people judge the run.

    They are marked as imported, with the reason, wherever they count.
    """
    into = readable_run(request, run)
    return json_response(push_votes(body_lines(request), run=into, reason=reason, by=request.actor))


INVITATION = fields_of(
    id=("whole", "its number"),
    label=("text", "for whom"),
    link=("text", "whoever has it can become a judge of the run"),
    state=("text", "open, used, expired or revoked"),
    uses=("whole", "how often it was used"),
    max_uses=("whole", "how often it can be"),
    quota=("whole?", "pairs or drawings for each judge"),
    expires_at=("time", "until when it works"),
)


def _row(request: ApiRequest, invitation: Invitation) -> dict[str, Any]:
    link = request.build_absolute_uri(reverse("join", args=[invitation.token]))
    same = ("label", "state", "uses", "max_uses", "quota", "expires_at")
    return {"id": invitation.pk, "link": link, **{name: getattr(invitation, name) for name in same}}


@reading(router, "/runs/{slug:run}/invitations", "api_invitations", page_of(object_of(INVITATION)))
def list_invitations(request: ApiRequest, run: str, limit: int = Limit, cursor: str = Cursor) -> HttpResponse:
    """The links that let people judge the run. Role: curate."""
    actor_of(request, CURATE)
    rows = readable_run(request, run).invitations.all()
    return rows_page(request, rows, lambda page: [_row(request, row) for row in page], limit=limit, cursor=cursor)


@writing(
    router,
    "/runs/{slug:run}/invitations",
    "api_invite",
    page_of(object_of(INVITATION)),
    role=CURATE,
    status=201,
)
def invite(request: ApiRequest, run: str, wanted: bodies.NewInvitations) -> HttpResponse:
    """Make links that let people judge the run."""
    made = create_invitations(run=readable_run(request, run), by=request.actor, **wanted.model_dump())
    return json_response({"data": [_row(request, each) for each in made], "next": None}, 201)


@writing(
    router,
    "/runs/{slug:run}/invitations/{int:invitation}",
    "api_revoke_invitation",
    object_of(INVITATION),
    role=CURATE,
    method="DELETE",
)
def revoke(request: ApiRequest, run: str, invitation: int = Path(..., ge=1, lt=2**63)) -> HttpResponse:
    """Revoke a link; judges who came by it stay."""
    revoked = readable_run(request, run).invitations.filter(pk=invitation).select_related("run").first()
    if revoked is None:
        raise not_found("This run has no such invitation.")
    revoke_invitation(invitation=revoked, by=request.actor, reason=_reason(request, ""))
    revoked.refresh_from_db()
    return json_response(_row(request, revoked))


@writing(router, "/runs/{slug:run}/studies", "api_write_study", ref("Study"), role=CURATE, status=201)
def write(request: ApiRequest, run: str, wanted: bodies.NewStudy) -> HttpResponse:
    """Write a study, or a new version of the one with its name. It opens by its state; who has begun keeps their version."""
    into = readable_run(request, run)
    try:
        name = parse_study(wanted.source).name
        study = into.studies.filter(name=name).first()
        if study is None or newest_version(study).source != wanted.source:
            study = write_study(run=into, source=wanted.source, by=request.actor, study=study)
    except StudyFaultsError as error:
        raise bad_study(error) from None
    return json_response(study_document(study), 201)


def bad_study(error: StudyFaultsError) -> Problem:
    errors = [
        {
            "line": fault.line,
            "field": fault.key,
            "message": visible(f"{fault.message}; {fault.hint}".rstrip("; "))[:300],
        }
        for fault in error.faults
    ]
    words = " ".join(f"Line {each['line']}, {each['field']}: {each['message']}." for each in errors[:3])
    return Problem(422, "invalid", f"Nothing was stored. {visible(words)}", errors=errors)


@writing(router, "/runs/{slug:run}/studies/{slug:study}/state", "api_set_study", ref("Study"), role=CURATE)
def set_study(request: ApiRequest, run: str, study: str, wanted: bodies.State) -> HttpResponse:
    """Open, pause or close a study. One that is so already stays as it is."""
    changed = readable_run(request, run).studies.filter(code=study).select_related("run").first()
    if changed is None:
        raise not_found("This run has no such study.")
    if changed.state != STUDIES[wanted.verb][0]:
        set_study_state(study=changed, verb=wanted.verb, by=request.actor, reason=_reason(request, wanted.reason))
    return json_response(study_document(changed))
