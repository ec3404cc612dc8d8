"""Which part of the site a page belongs to, so that the masthead can mark it."""

from __future__ import annotations

from django import template

register = template.Library()

PARTS = {
    "ranking": "leaderboards",
    "gallery": "drawings",
    "drawings": "drawings",
    "generation": "runs",
    "judging": "judging",
    "suites": "suites",
    "suite": "suites",
    "run_suite": "suites",
    "numbers": "numbers",
    "login": "account",
    "password_change": "account",
    "password_change_done": "account",
    "two_factor": "account",
    "link_login": "account",
    "own_token": "account",
}
CURATORS = {
    f"ranking:{page}"
    for page in (
        "dataset",
        "import_run",
        "import_grades",
        "tokens",
        "plan",
        "study_dry_run",
        "webhooks",
        "picked_pairs",
    )
} | {"teams", "team", "run_team"}
NO_PART = {"ranking:api_docs"}


@register.simple_tag(takes_context=True)
def part(context: template.Context) -> str:
    """The part by the address's name or its app; empty for home and for an address that is not there."""
    request = context.get("request")
    match = request and request.resolver_match
    if not match or match.view_name in NO_PART:
        return ""
    if match.view_name in CURATORS or (match.app_name == "judging" and match.route.startswith("runs/")):
        return "runs"
    return PARTS.get(match.app_name or match.view_name, "")
