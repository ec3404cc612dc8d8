"""Every link that a page shows leads somewhere for the person who sees it: a walk through the site as each role."""

from __future__ import annotations

from collections import Counter, deque
from functools import cache
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import resolve

from benchsite.operations.accounts import make_curator
from generation.models import Run
from ranking.fitting import fit_run, publish_fit
from ranking.models import Publication
from tests.judging.graded import make_rubric_run, seat_with_list
from tests.judging.make import make_seat
from tests.ranking.answered_run import make_answered_run
from tests.ranking.graded_run import make_graded_run
from tests.ranking.voted_run import make_voted_run
from tests.site.admin.rows import make_rows

pytestmark = [pytest.mark.django_db, pytest.mark.long, pytest.mark.once]
EACH = 1  # links of one kind that are followed from pages of one kind; the next vote's page is made as this one's is
ADDRESS = {"a": "href", "link": "href", "img": "src", "script": "src"}


class Links(HTMLParser):
    """The addresses a page names, in its order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        address = dict(attrs).get(ADDRESS.get(tag, ""))
        if address and not address.startswith(("/static/", "#", "mailto:")):
            self.found.append(address)


@pytest.fixture
def world():
    """Runs of every protocol, open and closed, published and private; a judge with seats; a frozen leaderboard."""
    root = User.objects.create_superuser("root")
    make_curator(User.objects.create_user("carol"))
    make_rows(root)  # a private run with a frozen leaderboard of its own
    voted, closed = make_voted_run(votes=63), make_voted_run(votes=63)
    graded, grading = make_graded_run(subjects=1), make_rubric_run(subjects=1, attempts=1)
    Run.objects.update(visibility="published")
    Run.objects.filter(pk__in=[closed.pk, graded.pk]).update(judging_state="closed")
    Run.objects.filter(title="ASCII").exclude(pk__in=[voted.pk, closed.pk]).update(visibility="private")
    scored = make_answered_run(models=["demo/master", "demo/beginner"], attempts=1)
    levels = make_answered_run("science-birds", prompts=["A"], attempts=1)
    for run in (voted, closed, graded, scored, levels):
        run.refresh_from_db()
        publish_fit(fit=fit_run(run), by=root, title=f"Midterm of {run.title}")
    make_seat(grading, "alice")
    for run in (voted, closed, scored):
        make_seat(run, "alice")
    seat_with_list(grading, "bob")


@cache
def kind_of(address: str) -> str:
    return resolve(urlsplit(address).path).view_name


def walk(client: Client, *starts: str) -> tuple[Counter[str], list[tuple[str, str, int]]]:
    """How many addresses of each kind were opened, and (page, link, status) of each link that leads nowhere."""
    todo, seen, broken = deque(("/", start) for start in starts), set(starts), []
    opened, ways = Counter(), Counter()
    while todo:
        page, address = todo.popleft()
        way = kind_of(page), kind_of(address)
        ways[way] += 1
        if ways[way] > EACH:
            continue
        opened[way[1]] += 1
        response = client.get(address)
        if response.status_code not in (200, 302):
            broken.append((page, address, response.status_code))
        for link in links_of(response):
            target = urlsplit(urljoin(f"http://testserver{address}", link))
            found = target._replace(scheme="", netloc="", fragment="").geturl()
            if target.netloc == "testserver" and found not in seen:
                seen.add(found)
                todo.append((address, found))
    return opened, broken


def links_of(response) -> list[str]:
    if response.status_code == 302:
        return [response["Location"]]
    is_page = response.headers["Content-Type"].startswith("text/html") and not response.streaming
    return Links(response.content.decode()).found if is_page else []


def frozen() -> list[str]:
    """Frozen leaderboards are reached by a link that somebody was given."""
    return [f"/leaderboards/{one.code}/" for one in Publication.objects.all()]


def test_no_link_leads_nowhere(world):
    for name, kinds in {"": 18, "alice": 20, "bob": 20, "carol": 60}.items():
        client = Client()
        if name:
            client.force_login(User.objects.get(username=name))

        opened, broken = walk(client, "/", *frozen())

        assert (name, broken) == (name, [])
        assert len(opened) >= kinds, (name, sorted(opened))
