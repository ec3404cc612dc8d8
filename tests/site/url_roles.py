"""Who may open what: a row for every address of the site. A page without a row fails the tests; see docs/security.md.

A row says for each role in turn what comes back: a status, or `login` for the way to the login page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

ROLES = ("anonymous", "judge", "other judge", "curator", "superuser")

ALL = "200 200 200 200 200"
NONE = "405 405 405 405 405"
CURATORS = "login 403 403 200 200"
CURATORS_MOVED = "login 403 403 302 302"
CURATORS_405 = "login 403 403 405 405"
MEMBERS = "login 200 200 200 200"
MEMBERS_MOVED = "login 302 302 302 302"
MEMBERS_405 = "login 405 405 405 405"
NOWHERE = "404 404 404 404 404"
TOKEN = "401 401 401 401 401"
PRIVATE = "404 404 404 200 200"
PUBLISHED = "200 200 403 200 200"
GALLERY = "403 403 403 200 200"  # drawings with names wait for the last vote
JUDGE = "login 200 404 404 404"
JUDGE_MOVED = "login 302 404 404 404"


@dataclass(frozen=True)
class Row:
    """What GET and POST of an address answer to each role.

    `args` name the parts of the test's world (see tests/site/url_world.py) or plain values that the address takes;
    `data` is what is posted, `@name` standing for a part of the world.
    """

    get: str
    post: str
    args: tuple[object, ...] = ()
    data: dict[str, str] = field(default_factory=dict)


ADDRESSES = {
    "home": Row(ALL, NONE),
    "healthz": Row(ALL, NONE),
    "readyz": Row(ALL.replace("200", "503"), NONE),  # the tests' queue is away
    "favicon.ico": Row(ALL.replace("200", "302"), ALL.replace("200", "302")),
    "metrics": Row(ALL.replace("200", "403"), NONE),  # by its token only; tests/benchsite/ has more
    "numbers": Row(ALL, NONE),
    "drawings": Row(ALL, NONE),
    "suites": Row(ALL, NONE),
    "suite": Row(ALL, NONE, ("ascii",)),
    "run_suite": Row(PRIVATE, NONE, ("@run",)),
    "run_suite (published)": Row(ALL, NONE, ("@published",)),
    # /runs/
    "generation:runs": Row(CURATORS, CURATORS_405),
    "generation:start": Row(CURATORS, CURATORS, ("ascii",)),
    "generation:upload": Row(CURATORS, CURATORS),
    "generation:start_uploaded": Row(CURATORS_405, CURATORS_MOVED),
    "generation:catalogue": Row(CURATORS, CURATORS_405, ("ascii",)),
    "generation:costs": Row(CURATORS, CURATORS, ("@run",)),
    "generation:describe": Row("login 403 403 404 404", "login 403 403 404 404", ("@run",)),  # it names no model
    "generation:check": Row(CURATORS_405, CURATORS, ("ascii",)),
    "generation:run": Row(CURATORS, CURATORS_405, ("@run",)),
    "generation:progress": Row(CURATORS, CURATORS_405, ("@run",)),
    "generation:cancel": Row(CURATORS, CURATORS, ("@run",)),
    "generation:measure": Row("login 403 403 404 404", "login 403 403 404 404", ("@run",)),  # it has one backend
    "generation:extend": Row(CURATORS, CURATORS, ("@run",)),
    "generation:import": Row(CURATORS, CURATORS, ("@run",)),
    "generation:import_programs": Row(CURATORS, CURATORS, ("@run",)),
    "generation:samples": Row(CURATORS, CURATORS_405, ("@run",)),
    "generation:download": Row(CURATORS, CURATORS_405, ("@run",)),
    "generation:act": Row(CURATORS_405, CURATORS_MOVED, ("@run", "pause")),
    "generation:sample": Row(CURATORS, CURATORS_405, ("@sample",)),
    "generation:picture": Row(CURATORS, CURATORS_405, ("@sample",)),
    # leaderboards: of a private run, of one that was published and that Bob still judges, and of one that he has judged
    "ranking:leaderboards": Row(ALL, NONE),
    "ranking:embed": Row(ALL.replace("200", "404"), NONE, ("@run",)),
    "ranking:embed (published)": Row(ALL, NONE, ("@published",)),
    "ranking:publication": Row(ALL, NONE, ("@publication",)),
    "ranking:publication_picture": Row(ALL, NONE, ("@publication",)),
    "ranking:leaderboard": Row(PRIVATE, NONE, ("@run",)),
    "ranking:leaderboard (published)": Row(PUBLISHED, NONE, ("@published",)),
    "ranking:leaderboard (closed)": Row(ALL, NONE, ("@closed",)),
    "ranking:protocol": Row(PRIVATE, NONE, ("@run", "pairwise")),
    "ranking:protocol (published)": Row(PUBLISHED, NONE, ("@published", "pairwise")),
    "ranking:differences": Row(PRIVATE, NONE, ("@run", "pairwise")),
    "ranking:differences (published)": Row(PUBLISHED, NONE, ("@published", "pairwise")),
    "ranking:download": Row(PRIVATE, NONE, ("@run", "json")),
    "ranking:download (published)": Row(PUBLISHED, NONE, ("@published", "json")),
    "ranking:judges": Row(PRIVATE, NONE, ("@run",)),
    "ranking:judges (published)": Row(PUBLISHED, NONE, ("@published",)),
    "ranking:groups": Row(PRIVATE, NONE, ("@run",)),
    "ranking:groups (published)": Row(PUBLISHED, NONE, ("@published",)),
    "ranking:set_arena": Row(CURATORS_405, CURATORS_MOVED, ("@run", "part")),
    "ranking:model_judges": Row(PRIVATE, NONE, ("@run",)),
    "ranking:model_judges (published)": Row(PUBLISHED, NONE, ("@published",)),
    "ranking:model_graders": Row(PRIVATE, NONE, ("@rubric",)),
    "ranking:history": Row(PRIVATE, PRIVATE, ("@run",)),
    "ranking:history (published)": Row(PUBLISHED, PUBLISHED, ("@published",)),
    "ranking:votes": Row(PRIVATE, NONE, ("@run",)),
    "ranking:votes (published)": Row(PUBLISHED, NONE, ("@published",)),
    "ranking:frontier": Row(PRIVATE, NONE, ("@run", "pairwise")),
    "ranking:frontier (published)": Row(PUBLISHED, NONE, ("@published", "pairwise")),
    "ranking:versus": Row(PRIVATE, NONE, ("@run",)),
    "ranking:versus (published)": Row(PUBLISHED, NONE, ("@published",)),
    "ranking:chart": Row(PRIVATE, NONE, ("@run", "ratings", "svg")),
    "ranking:chart (published)": Row("404 404 403 200 200", NONE, ("@published", "ratings", "svg")),
    "ranking:past": Row(PRIVATE, NONE, ("@run", "@fit")),
    "ranking:past (published)": Row(PUBLISHED, NONE, ("@published", "@published_fit")),
    "ranking:entrant": Row(PRIVATE, NONE, ("@run", "@entrant")),
    "ranking:entrant (published)": Row(PUBLISHED, NONE, ("@published", "@published_program")),
    "ranking:drawing": Row(PRIVATE, NONE, ("@run", "@sample")),
    "ranking:drawing (published)": Row("404 404 403 200 200", NONE, ("@published", "@published_sample")),
    "ranking:drawing (closed)": Row(ALL, NONE, ("@closed", "@closed_sample")),
    "ranking:count": Row(CURATORS_405, CURATORS_MOVED, ("@run",)),
    "ranking:publish": Row(CURATORS_405, CURATORS_MOVED, ("@run",), {"fit": "@fit"}),
    "ranking:share_picture": Row(PRIVATE, NONE, ("@run",)),
    "ranking:share_picture (published)": Row(PUBLISHED, NONE, ("@published",)),
    "ranking:archive": Row(CURATORS, CURATORS_405, ("@run",)),
    "ranking:dataset": Row(CURATORS, CURATORS, ("@run",)),
    "ranking:import_run": Row(CURATORS, CURATORS),
    "ranking:import_grades": Row(CURATORS, CURATORS, ("@rubric",)),
    "gallery:gallery": Row(PRIVATE, NONE, ("@run",)),
    "gallery:gallery (published)": Row(GALLERY, NONE, ("@published",)),
    "gallery:gallery (closed)": Row(ALL, NONE, ("@closed",)),
    "gallery:program": Row(PRIVATE, NONE, ("@run", "@program")),
    "gallery:program (published)": Row(GALLERY, NONE, ("@published", "@published_program")),
    "gallery:program (closed)": Row(ALL, NONE, ("@closed", "@closed_program")),
    "gallery:levels": Row("404 404 404 404 404", NONE, ("@run", "@program")),  # it has no level to give
    "gallery:levels (published)": Row(GALLERY, NONE, ("@published", "@published_program")),
    "gallery:levels (closed)": Row(ALL, NONE, ("@closed", "@closed_program")),
    "gallery:sample": Row(PRIVATE, NONE, ("@sample",)),
    "gallery:sample (published)": Row(PRIVATE, NONE, ("@published_sample",)),
    "gallery:sample (closed)": Row(ALL, NONE, ("@closed_sample",)),
    "gallery:share_picture": Row(PRIVATE, NONE, ("@sample",)),
    "gallery:share_picture (published)": Row(PRIVATE, NONE, ("@published_sample",)),
    "gallery:share_picture (closed)": Row(ALL, NONE, ("@closed_sample",)),
    "gallery:picture": Row(PRIVATE, NONE, ("@sample", "@picture")),
    "gallery:picture (published)": Row(PRIVATE, NONE, ("@published_sample", "@published_picture")),
    "gallery:picture (closed)": Row(ALL, NONE, ("@closed_sample", "@closed_picture")),
    "gallery:newest_picture": Row(PRIVATE, NONE, ("@sample",)),
    "gallery:newest_picture (published)": Row(PRIVATE, NONE, ("@published_sample",)),
    "gallery:newest_picture (closed)": Row(ALL, NONE, ("@closed_sample",)),
    "gallery:thumbnail": Row(PRIVATE, NONE, ("@sample", "@picture", 96)),
    "gallery:thumbnail (published)": Row(PRIVATE, NONE, ("@published_sample", "@published_picture", 96)),
    "gallery:thumbnail (closed)": Row(ALL, NONE, ("@closed_sample", "@closed_picture", 96)),
    "gallery:prompts": Row(PRIVATE, NONE, ("@run",)),
    "gallery:prompts (published)": Row(GALLERY, NONE, ("@published",)),
    "gallery:prompts (closed)": Row(ALL, NONE, ("@closed",)),
    "gallery:prompt": Row(PRIVATE, NONE, ("@run", "@prompt")),
    "gallery:prompt (published)": Row(GALLERY, NONE, ("@published", "@published_prompt")),
    "gallery:prompt (closed)": Row(ALL, NONE, ("@closed", "@closed_prompt")),
    "gallery:file": Row(PRIVATE, NONE, ("@sample",)),
    "gallery:file (published)": Row(PRIVATE, NONE, ("@published_sample",)),
    "gallery:file (closed)": Row(ALL, NONE, ("@closed_sample",)),
    "gallery:level": Row("404 404 404 404 404", NONE, ("@sample",)),
    "gallery:level (published)": Row(PRIVATE, NONE, ("@published_sample",)),
    "gallery:level (closed)": Row(ALL, NONE, ("@closed_sample",)),
    "ranking:webhooks": Row(CURATORS, CURATORS, ("@run",)),
    "ranking:disable_webhook": Row(CURATORS_405, CURATORS_MOVED, ("@run", "@webhook")),
    # /api/: by a token, whoever is logged in
    "ranking:api_openapi": Row(ALL, NONE),
    "ranking:api_docs": Row(ALL, NONE),
    "ranking:api": Row(TOKEN, NONE),
    "ranking:api_runs": Row(TOKEN, TOKEN),
    "ranking:api_run": Row(TOKEN, NONE, ("@run",)),
    "ranking:api_archive": Row(TOKEN, NONE, ("@run",)),
    "ranking:api_sample": Row(TOKEN, NONE, ("@run", "@sample")),
    "ranking:api_picture": Row(TOKEN, NONE, ("@run", "@sample")),
    "ranking:api_studies": Row(TOKEN, TOKEN, ("@run",)),
    "ranking:api_write_study": Row(TOKEN, TOKEN, ("@run",)),
    "ranking:study_dry_run": Row(CURATORS, CURATORS_405, ("@run", "@study")),
    "ranking:api_study": Row(TOKEN, NONE, ("@run", "@study")),
    "ranking:api_models": Row(TOKEN, NONE, ("@run",)),
    "ranking:api_entrants": Row(TOKEN, NONE, ("@run",)),
    "ranking:api_prompts": Row(TOKEN, NONE, ("@run",)),
    "ranking:api_samples": Row(TOKEN, TOKEN, ("@run",)),
    "ranking:api_votes": Row(TOKEN, TOKEN, ("@run",)),
    "ranking:api_grades": Row(TOKEN, NONE, ("@run",)),
    "ranking:api_standings": Row(TOKEN, NONE, ("@run",)),
    "ranking:api_leaderboard": Row(TOKEN, NONE, ("@run",)),
    "ranking:api_boards": Row(TOKEN, NONE, ("@run",)),
    "ranking:api_board": Row(TOKEN, NONE, ("@run", "pairwise")),
    "ranking:api_start_run": Row(TOKEN, TOKEN),
    "ranking:api_set_drawing": Row(NONE, TOKEN, ("@run",)),
    "ranking:api_set_judging": Row(NONE, TOKEN, ("@run",)),
    "ranking:api_push_samples": Row(TOKEN, TOKEN, ("@run",)),
    "ranking:api_push_votes": Row(TOKEN, TOKEN, ("@run",)),
    "ranking:api_invitations": Row(TOKEN, TOKEN, ("@run",)),
    "ranking:api_invite": Row(TOKEN, TOKEN, ("@run",)),
    "ranking:api_revoke_invitation": Row(NONE, NONE, ("@run", "@invitation")),
    "ranking:api_set_study": Row(NONE, TOKEN, ("@run", "@study")),
    "ranking:api_webhooks": Row(TOKEN, TOKEN, ("@run",)),
    "ranking:api_create_webhook": Row(TOKEN, TOKEN, ("@run",)),
    "ranking:api_disable_webhook": Row(NONE, NONE, ("@run", "@webhook")),
    "ranking:api_nothing": Row(TOKEN.replace("401", "404"), TOKEN.replace("401", "404"), ("nothing",)),
    "ranking:plan": Row(CURATORS, CURATORS_405),
    "ranking:tokens": Row(CURATORS, CURATORS),
    "ranking:revoke_token": Row(CURATORS_405, CURATORS_MOVED, ("@analyst",)),
    # joining, logging in and out
    "join": Row("200 302 200 200 200", "200 302 302 302 302", ("@token",)),
    "login": Row("200 302 302 302 302", "200 302 302 302 302"),
    "logout": Row(NONE, "302 302 302 302 302"),
    "password_change": Row(MEMBERS, MEMBERS),
    "password_done": Row(MEMBERS, MEMBERS_405),
    "password_reset_confirm": Row(ALL, ALL, ("x", "x")),  # a page that says the link is not valid
    "confirm_password": Row(MEMBERS_405, MEMBERS_MOVED),
    "second_factor": Row(
        ALL.replace("200", "login"), ALL.replace("200", "login")
    ),  # of nobody whose password came first
    "two_factor": Row(CURATORS, CURATORS),
    "renew_recovery_codes": Row(CURATORS_405, CURATORS_MOVED),
    "turn_off_two_factor": Row(CURATORS_405, CURATORS_MOVED),
    "teams": Row(CURATORS, "login 403 403 403 200"),
    "team": Row(CURATORS, "login 403 403 403 200", ("@team",)),
    "leave_team": Row(CURATORS_405, "login 403 403 403 302", ("@team", "@user")),
    "run_team": Row(CURATORS, CURATORS, ("@run",)),
    "own_token": Row(MEMBERS.replace("200", "403"), MEMBERS.replace("200", "403")),  # of analysts
    # single sign-on: nothing where none is set up
    "emergency_login": Row(NOWHERE, NOWHERE),
    "single_sign_on": Row(NOWHERE, NOWHERE),
    "single_sign_on_back": Row(NOWHERE, NOWHERE),
    "single_sign_on_new": Row(NOWHERE, NOWHERE),
    "link_login": Row(MEMBERS.replace("200", "404"), MEMBERS.replace("200", "404")),
    "unlink_login": Row(MEMBERS.replace("200", "404"), MEMBERS.replace("200", "404")),
    # /judge/
    "judging:home": Row(MEMBERS, MEMBERS_405),
    "judging:reference": Row(ALL.replace("200", "404"), NONE, ("no-such-prompt",)),
    "judging:vote": Row(MEMBERS_405, JUDGE_MOVED, data={"code": "@matchup", "outcome": "left"}),
    "judging:skip": Row(MEMBERS_405, JUDGE_MOVED, data={"code": "@matchup"}),
    "judging:undo": Row(MEMBERS_405, JUDGE_MOVED, data={"code": "@voted"}),
    "judging:report": Row(MEMBERS_405, JUDGE_MOVED, data={"code": "@matchup", "side": "left", "reason": "broken"}),
    "judging:picture": Row(JUDGE, MEMBERS_405, ("@matchup", "left")),
    "judging:judge": Row(JUDGE, MEMBERS_405, ("@run",)),
    "judging:start": Row(MEMBERS_405, JUDGE_MOVED, ("@run",)),
    "judging:history": Row(JUDGE, MEMBERS_405, ("@run",)),
    "judging:done": Row(JUDGE, MEMBERS_405, ("@run",)),
    "judging:card": Row(JUDGE, MEMBERS_405, ("@run",)),
    "judging:drawing": Row(JUDGE, MEMBERS_405, ("@item",)),
    "judging:drawing_picture": Row(JUDGE, MEMBERS_405, ("@item",)),
    "judging:save_grades": Row(MEMBERS_405, JUDGE_MOVED, ("@item",)),
    "judging:report_drawing": Row(MEMBERS_405, JUDGE_MOVED, ("@item",), {"reason": "broken"}),
    "judging:grades": Row(JUDGE_MOVED, MEMBERS_405, ("@rubric",)),
    "judging:start_grading": Row(MEMBERS_405, JUDGE_MOVED, ("@rubric",)),
    "judging:undo_grade": Row(MEMBERS_405, JUDGE_MOVED, ("@rubric",)),
    "judging:align": Row(JUDGE, MEMBERS_405, ("@rubric", "@stage")),
    # /runs/<code>/, about judging
    "judging:figures": Row(CURATORS, CURATORS_405, ("@run",)),
    "judging:grade_figures": Row(CURATORS, CURATORS_405, ("@rubric",)),
    "judging:grade_overview": Row(CURATORS, CURATORS_405, ("@rubric",)),
    "judging:decide_item": Row(CURATORS_405, CURATORS_MOVED, ("@rubric", "@item")),
    "judging:overview": Row(CURATORS, CURATORS_405, ("@run",)),
    "judging:download": Row(CURATORS, CURATORS_405, ("@run", "votes", "csv")),
    "judging:choose_pairs": Row(CURATORS_405, CURATORS_MOVED, ("@run",)),
    "judging:set_state": Row(CURATORS_405, CURATORS_MOVED, ("@run", "pause")),
    "judging:import_votes": Row(CURATORS, CURATORS, ("@run",)),
    "judging:import_run_of_votes": Row(CURATORS, CURATORS),
    "judging:model_judges": Row(CURATORS, CURATORS, ("@run",)),
    "judging:import_model_votes": Row(CURATORS, CURATORS, ("@run",)),
    "judging:model_graders": Row(CURATORS, CURATORS, ("@rubric",)),
    "judging:import_model_grades": Row(CURATORS, CURATORS, ("@rubric",)),
    "judging:ask_more": Row(CURATORS_405, "login 403 403 404 404", ("@run", "nobody")),
    "ranking:picked_pairs": Row(CURATORS, CURATORS, ("@run",)),
    "ranking:end_picked": Row(CURATORS_405, CURATORS_MOVED, ("@run",)),
    "judging:invitations": Row(CURATORS, CURATORS, ("@run",)),
    "judging:invitations_csv": Row(CURATORS, CURATORS_405, ("@run",)),
    "judging:revoke": Row(CURATORS_405, CURATORS_MOVED, ("@run", "@invitation")),
    "judging:weigh": Row(CURATORS_405, CURATORS_MOVED, ("@run", "@seat"), {"weight": "0", "reason": "why"}),
    "judging:reset_link": Row(CURATORS_405, CURATORS, ("@run", "@seat")),
    "judging:vouch": Row(CURATORS_405, CURATORS_MOVED, ("@run", "@seat"), {"reason": "why"}),
    # checks
    "judging:checks": Row(CURATORS, CURATORS_405, ("@run",)),
    "judging:set_checks": Row(CURATORS_405, CURATORS_MOVED, ("@run",)),
    "judging:make_checks": Row(CURATORS_405, CURATORS_MOVED, ("@run",)),
    "judging:choose_check": Row(CURATORS_405, CURATORS_MOVED, ("@run",)),
    "judging:checks_download": Row(CURATORS, CURATORS_405, ("@run", "checks.csv")),
    "judging:retire_check": Row(CURATORS_405, CURATORS_MOVED, ("@run", "@check")),
    "judging:check_picture": Row(CURATORS, CURATORS_405, ("@run", "@check")),
    # studies: a participant is whoever comes by the link
    "judging:platform_event": Row(NONE, "404 404 404 404 404"),
    "judging:study_door": Row(ALL, ALL.replace("200", "400"), ("@study",)),
    "judging:study_step": Row(ALL.replace("200", "403"), ALL.replace("200", "403"), ("@study",)),
    "judging:practice_picture": Row(ALL.replace("200", "404"), ALL.replace("200", "405"), ("@study", "1", "left")),
    "judging:study_account": Row(NOWHERE, NOWHERE, ("@study",)),
    "judging:study_data": Row(ALL, ALL, ("@study",)),
    "judging:study_download": Row(CURATORS, CURATORS_405, ("@run", "@study", "participants.csv")),
    "judging:erase_participant": Row(CURATORS_405, CURATORS_MOVED, ("@run", "@study", "@participant")),
    "judging:studies": Row(CURATORS, CURATORS_405, ("@run",)),
    "judging:new_study": Row(CURATORS, CURATORS, ("@run",)),
    "judging:study": Row(CURATORS, CURATORS_405, ("@run", "@study")),
    "judging:edit_study": Row(CURATORS, CURATORS, ("@run", "@study")),
    "judging:study_returns": Row(CURATORS_405, CURATORS_MOVED, ("@run", "@study")),
    "judging:preview_study": Row(CURATORS, CURATORS_405, ("@run", "@study", "entry")),
    "judging:set_study_state": Row(CURATORS_405, CURATORS_MOVED, ("@run", "@study", "pause")),
    "judging:decide": Row(CURATORS_405, CURATORS_MOVED, ("@run", "@report")),
}
UNNAMED = {"favicon.ico": "/favicon.ico", "admin/(?P<url>.*)$": "/admin/nothing/"}

# The admin makes its addresses from its tables; so its rows are made from them too.
STAFF = "login login login 200 200"
STAFF_405 = "login login login 405 405"
SUPERUSERS = "login login login 403 200"
FORBIDDEN = "login login login 403 403"
NOTHING = "login login login 404 404"
STAFF_MOVED = "login login login 302 302"
ADMIN = {
    "admin:index": Row(STAFF, STAFF),
    "admin:login": Row("200 200 200 302 302", "200 200 200 200 200"),
    "admin:logout": Row("302 302 302 405 405", "302 302 302 302 302"),
    "admin:password_change": Row(STAFF, STAFF),
    "admin:password_change_done": Row(STAFF, STAFF_405),
    "admin:autocomplete": Row(FORBIDDEN, STAFF_405),
    "admin:jsi18n": Row(STAFF, STAFF_405),
    "admin:view_on_site": Row(NOTHING, NOTHING, (999_999, "1")),
    "admin:app_list": Row(STAFF, STAFF, ("generation",)),
    "admin/(?P<url>.*)$": Row(NOTHING, NOTHING),  # whatever else is asked for below it
    "admin:auth_user_password_change": Row(SUPERUSERS, SUPERUSERS, ("@user",)),
    # Superusers delete a locked login to unlock it; nobody makes one up, and no field of it can be changed.
    "admin:axes_accessattempt_add": Row(FORBIDDEN, FORBIDDEN),
    "admin:axes_accessattempt_change": Row(SUPERUSERS, SUPERUSERS.replace("200", "302"), ("@first",)),
    "admin:axes_accessfailurelog_add": Row(FORBIDDEN, FORBIDDEN),
    "admin:axes_accessfailurelog_change": Row(SUPERUSERS, SUPERUSERS.replace("200", "302"), ("@first",)),
    "admin:axes_accesslog_add": Row(FORBIDDEN, FORBIDDEN),
    "admin:axes_accesslog_change": Row(SUPERUSERS, SUPERUSERS.replace("200", "302"), ("@first",)),
}
FACT_PAGES = {
    "changelist": Row(STAFF, STAFF),
    "change": Row(STAFF, FORBIDDEN, ("@first",)),
    "history": Row(STAFF, STAFF, ("@first",)),
    "add": Row(FORBIDDEN, FORBIDDEN),
    "delete": Row(FORBIDDEN, FORBIDDEN, ("@first",)),
}


def walk(resolver: URLResolver, prefix: str = "", space: str = "") -> Iterator[tuple[str, URLPattern]]:
    """Every pattern under its full name; one without a name is known by its route."""
    for pattern in resolver.url_patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from walk(pattern, route, f"{space}{pattern.namespace}:" if pattern.namespace else space)
        else:
            yield f"{space}{pattern.name}" if pattern.name else route, pattern


def patterns() -> list[tuple[str, Callable[..., Any]]]:
    """A list, so that a second address of the same name is seen too."""
    return [(name, pattern.callback) for name, pattern in walk(get_resolver())]
