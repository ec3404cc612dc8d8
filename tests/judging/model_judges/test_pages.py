"""The tab of a board with model judges, and the curators' page: figures beside people's, and no names while people judge."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from generation.demo.server import start
from generation.models import Run, Sample
from judging.model_judges.asking import Plan, add_model_judge
from judging.model_judges.instructions import versioned
from judging.models import Vote
from judging.rules import rules_of
from ranking.fitting import fit_run, publish_fit
from ranking.models import Fit
from tests.judging.make import close_judging
from tests.judging.model_judges.test_asking import CRITIC, draw_all
from tests.ranking.voted_run import make_voted_run

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def judged(module_rows):
    """Judged by people and by a model, once: whatever a test does to it is taken back."""
    server = start(latency=0.0, faults=0.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DEMO_PROVIDER_URL", server.url)
        run = make_voted_run(votes=60, judges=4)
        draw_all(add_model_judge(run, Plan(CRITIC, versioned(run, ""), 40, 5.0)))
    server.stop()
    Run.objects.filter(pk=run.pk).update(visibility=Run.Visibility.PUBLISHED)
    run.refresh_from_db()
    fit_run(run)
    return run.pk


@pytest.fixture
def run(judged, demo):
    demo()
    rules_of.cache_clear()  # a run's rules never change, but for one test here
    return Run.objects.get(pk=judged)


def page(client, run, **headers):
    return client.get(reverse("ranking:model_judges", args=[run.code]), **headers)


def test_the_tab_shows_each_judge_beside_people_once_judging_is_closed(client, run):
    close_judging(run)

    shown = page(client, run)

    assert shown.status_code == 200
    assert "demo/critic" in shown.text and "simulated" in shown.text
    for words in (
        "Raw agreement",
        "Cohen’s κ",
        "Krippendorff’s α",
        "AC1",
        "People with each other",
        "shown first",
    ):
        assert words in shown.text
    assert "never counted as people" in shown.text
    board = client.get(reverse("ranking:leaderboard", args=[run.code])).text
    assert reverse("ranking:model_judges", args=[run.code]) in board


def test_while_people_judge_nobody_else_sees_what_models_said(client, run, curator):
    seen = page(client, run)
    client.logout()
    hidden = page(client, run)

    assert "demo/critic" in seen.text
    assert "demo/critic" not in hidden.text
    assert "more detail" not in hidden.text


@pytest.mark.parametrize(("reveal", "state"), [("after_vote", "open"), ("never", "not_open")])
def test_no_document_names_a_drawing_before_judging_is_closed(client, run, reveal, state):
    """Neither while names are told after each vote nor before judging is opened."""
    judging = run.config["judging"] | {"reveal": reveal}
    Run.objects.filter(pk=run.pk).update(judging_state=state, config=run.config | {"judging": judging})
    rules_of.cache_clear()
    fit = Fit.objects.newest(run, "pairwise", kind="full")
    frozen = publish_fit(fit=fit, by=None, title="Midterm")
    addresses = [
        reverse("ranking:leaderboard", args=[run.code]),
        reverse("ranking:past", args=[run.code, fit.code]),
        reverse("ranking:publication", args=[frozen.code]),
        reverse("ranking:download", args=[run.code, "json"]),
        reverse("ranking:model_judges", args=[run.code]),
    ]

    def worst():
        documents = [client.get(address, {"format": "json"}).json() for address in addresses]
        return [document.get("model_judges", document)["judges"][0]["worst"] for document in documents]

    before = worst()
    close_judging(run)

    assert before == [[]] * len(addresses)
    assert all(worst())


def test_models_change_no_number_of_the_human_board(run):
    before = Fit.objects.newest(run, "pairwise", kind="full").result
    judge = run.model_judges.get()
    votes = Vote.objects.count()
    judge.delete()

    fit_run(run)

    after = Fit.objects.newest(run, "pairwise", kind="full").result
    assert before.pop("model_judges")["judges"][0]["agreement"]["votes"] > 0
    assert "model_judges" not in after
    assert {key: value for key, value in before.items() if key not in ("run",)} == {
        key: value for key, value in after.items() if key not in ("run",)
    }
    assert Vote.objects.count() == votes


def test_a_board_without_model_judges_has_no_such_tab(client, demo):
    run = close_judging(make_voted_run(votes=30, judges=3))
    Run.objects.filter(pk=run.pk).update(visibility=Run.Visibility.PUBLISHED)
    fit_run(run)
    address = reverse("ranking:model_judges", args=[run.code])
    assert address not in client.get(reverse("ranking:leaderboard", args=[run.code])).text
    assert "No model judge has answered yet" in client.get(address).text


def test_curators_add_a_judge_and_see_what_it_can_cost_first(client, run, curator):
    address = reverse("judging:model_judges", args=[run.code])
    fields = {"provider": "demo", "model": "demo/flatterer", "wanted": "5", "budget": "2"}
    fields |= {"price_in": "0.5", "price_out": "2", "instructions": "Choose the funnier one. Answer in JSON."}

    bound = client.post(address, fields | {"bound": "1"})
    added = client.post(address, fields, follow=True)
    again = client.post(address, fields)

    assert "can cost at\n  most US$" in bound.text
    assert run.model_judges.count() == 2
    assert "demo/flatterer will be asked 10 questions" in added.text
    assert "demo/flatterer (instructions 2)" in added.text
    assert "already; ask it for more pairs" in again.text
    judge = run.model_judges.order_by("-pk").first()
    ask = reverse("judging:ask_more", args=[run.code, judge.code])
    more, twice = (client.post(ask, {"wanted": "3", "asked": "10"}, follow=True) for _ in range(2))
    assert 'name="asked" value="10"' in added.text
    assert "3 more pairs will be asked about" in more.text
    assert "nothing was added twice" in twice.text
    assert judge.samples.count() == 16
    assert client.get(reverse("generation:run", args=[judge.code])).status_code == 200


def test_lists_and_the_board_pages_know_no_judge(client, run, curator):
    judge = run.model_judges.get()
    assert judge.code not in client.get(reverse("generation:runs")).text
    assert judge.code not in client.get(reverse("ranking:leaderboards")).text
    assert client.get(reverse("ranking:leaderboard", args=[judge.code])).status_code == 404
    assert client.get(reverse("gallery:gallery", args=[judge.code])).status_code == 404
    assert client.get(reverse("judging:model_judges", args=[judge.code])).status_code == 404


def test_a_judges_own_pages_speak_of_answers_and_every_link_of_theirs_leads_somewhere(client, run, curator):
    judge = run.model_judges.get()
    answer = judge.samples.order_by("pk").first()
    pages = {
        address: client.get(address).text
        for address in (
            reverse("generation:run", args=[judge.code]),
            reverse("generation:samples", args=[judge.code]),
            reverse("generation:sample", args=[answer.code]),
        )
    }
    links = {link for page in pages.values() for link in re.findall(rf'href="(/runs/{judge.code}/[^"?#]*)', page)}
    pages_of_pairs = {reverse(f"{room}:model_judges", args=[run.code]) for room in ("judging", "ranking")}

    overview, _, one = pages.values()
    assert "answered" in overview and "Newest answers" in overview and "drawn" not in shown_text(overview)
    assert all(address in overview for address in pages_of_pairs)
    assert len(links) >= 4 and {client.get(link).status_code for link in links} == {200}
    shown = Sample.objects.in_bulk([answer.prompt.facts["left"], answer.prompt.facts["right"]])
    assert all(reverse("generation:sample", args=[drawing.code]) in one for drawing in shown.values())
    assert one.index("What it was shown") < one.index("Which drawing is better") < one.index("As it counts")
    for address in ("judging:overview", "ranking:dataset"):
        assert client.get(reverse(address, args=[judge.code])).status_code == 404


def shown_text(page: str) -> str:
    main = page[page.index("<main") : page.index("</main>")]
    return re.sub(r"<[^>]*>", " ", main)


def test_another_budget_changes_nothing_else_of_a_judge(client, run, curator):
    judge = run.model_judges.get()
    before = (judge.config, judge.digest, judge.samples.count())
    address = reverse("generation:extend", args=[judge.code])

    form = client.get(address).text
    saved = client.post(address, {"budget": "7.5", "attempts": "3", "models": "demo/flatterer"}, follow=True)
    fit_run(run)

    judge.refresh_from_db()
    assert 'name="attempts"' not in form and 'name="models"' not in form
    assert "The run is updated" in saved.text
    assert judge.budget_nano == 7_500_000_000
    assert (judge.config, judge.digest, judge.samples.count()) == before
    assert Fit.objects.newest(run, "pairwise", kind="full").result["model_judges"]["judges"]
    assert "Import drawings" not in client.get(reverse("generation:run", args=[judge.code])).text
