"""Webhooks by the API: list, create, disable."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from django.http import HttpResponse
from ninja import Field, Router

from ranking.api.access import ApiRequest, actor_of, readable_run
from ranking.api.answers import Cursor, Limit, json_response, reading, rows_page, writing
from ranking.api.bodies import Body
from ranking.api.problems import not_found
from ranking.api.schemas import object_of, page_of
from ranking.archive.fields import fields_of
from ranking.models import AnalystToken, Webhook
from ranking.webhooks.subscriptions import create_webhook, disable_webhook, secret_of

router = Router(tags=["Webhooks"])
CURATE = AnalystToken.Role.CURATE
WEBHOOK = fields_of(
    code=("code", "its public id"),
    url=("text", "where its messages go"),
    kinds=("list", "what it is told of: run, votes, fits"),
    failures=("whole", "tries in a row that failed"),
    created_at=("time", "when it was created"),
    disabled_at=("time?", "when it was disabled, by a curator or after days without an answer"),
    disabled_reason=("text", "why"),
)
SECRET = fields_of(secret=("text", "signs its messages; shown only once"))


class NewWebhook(Body):
    url: Annotated[str, Field(max_length=500, description="An https address.")]
    kinds: Annotated[list[Literal["run", "votes", "fits"]], Field(min_length=1, max_length=3)] = [
        "run",
        "votes",
        "fits",
    ]


def _row(webhook: Webhook) -> dict[str, Any]:
    return {name: getattr(webhook, name) for name in WEBHOOK}


@reading(router, "/runs/{slug:run}/webhooks", "api_webhooks", page_of(object_of(WEBHOOK)))
def list_webhooks(request: ApiRequest, run: str, limit: int = Limit, cursor: str = Cursor) -> HttpResponse:
    """The run's webhooks. Role: curate."""
    actor_of(request, CURATE)
    rows = readable_run(request, run).webhooks.all()
    return rows_page(request, rows, lambda page: map(_row, page), limit=limit, cursor=cursor)


@writing(
    router,
    "/runs/{slug:run}/webhooks",
    "api_create_webhook",
    object_of(WEBHOOK | SECRET),
    role=CURATE,
    status=201,
)
def create(request: ApiRequest, run: str, wanted: NewWebhook) -> HttpResponse:
    """Tell an address of the run's news. The answer has the secret that signs its messages."""
    made = create_webhook(run=readable_run(request, run), url=wanted.url, kinds=wanted.kinds, by=request.actor)
    return json_response(_row(made) | {"secret": secret_of(made)}, 201)


@writing(
    router,
    "/runs/{slug:run}/webhooks/{slug:webhook}",
    "api_disable_webhook",
    object_of(WEBHOOK),
    role=CURATE,
    method="DELETE",
)
def disable(request: ApiRequest, run: str, webhook: str) -> HttpResponse:
    """Send nothing more to an address."""
    ended = readable_run(request, run).webhooks.filter(code=webhook).select_related("run").first()
    if ended is None:
        raise not_found("This run has no such webhook.")
    disable_webhook(ended, by=request.actor, reason=f"Disabled by the token {request.auth.label}."[:200])
    ended.refresh_from_db()
    return json_response(_row(ended))
