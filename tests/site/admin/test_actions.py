"""Admin pages for curation: every list opens, facts are read-only for everybody, an action asks why and is logged."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils.timezone import now

from benchsite.lib.fact_admin import FactAdmin
from generation.models import Event, Run, Sample
from generation.runs import curating
from tests.judging.make import make_run
from tests.site.admin.rows import make_rows

pytestmark = pytest.mark.django_db

FACTS = sorted(model._meta.label_lower for model, ours in admin.site._registry.items() if isinstance(ours, FactAdmin))


@pytest.fixture
def root(client):
    user = User.objects.create_superuser("root")
    client.force_login(user)
    return user


def address(label: str, page: str = "changelist", *args: object) -> str:
    return reverse(f"admin:{label.replace('.', '_')}_{page}", args=args)


def act(client, rows, verb: str, *, reason: str | None = "seen by eye", across: bool = False):
    """Press an action's button; with a reason, the page that asks for it too."""
    model = type(rows[0])
    form = {"action": verb, "index": 0, "_selected_action": [row.pk for row in rows]}
    if across:
        form["select_across"] = 1
    if reason is not None:
        form |= {"confirmed": "yes", "reason": reason}
    return client.post(address(model._meta.label_lower), form, follow=True)


def test_every_table_of_ours_is_a_fact_in_the_admin():
    ours = {
        model._meta.label_lower
        for app in ("generation", "judging", "ranking")
        for model in apps.get_app_config(app).get_models()
    }

    assert ours <= set(FACTS)


def test_nobody_adds_or_deletes_a_fact(client, root):
    make_rows(root)

    for label in FACTS:
        rows = apps.get_model(label).objects.all()
        before = rows.count()
        form = {"action": "delete_selected", "index": 0, "_selected_action": list(rows.values_list("pk", flat=True))}
        page = client.post(address(label), {**form, "post": "yes"}, follow=True).content.decode()
        assert client.get(address(label, "add")).status_code == 403, label
        assert "delete_selected" not in page, label
        assert rows.count() == before, label


def test_a_superuser_can_neither_edit_nor_delete_a_sample(client, root):
    sample = make_run(entrants=2, prompts=1, attempts=1).samples.first()

    changed = client.post(address("generation.sample", "change", sample.pk), {"excluded_reason": "x", "attempt": 9})
    deleted = client.post(address("generation.sample", "delete", sample.pk), {"post": "yes"})

    assert (changed.status_code, deleted.status_code) == (403, 403)
    sample.refresh_from_db()
    assert (sample.attempt, sample.excluded_reason) == (1, "")


@pytest.mark.parametrize("label", ["auth.user", "auth.group", "axes.accessattempt", "admin.logentry"])
def test_users_and_rights_are_for_superusers(client, curator, label):
    assert client.get(address(label)).status_code == 403
    assert address(label) not in client.get("/admin/").content.decode()

    client.force_login(User.objects.create_superuser("root"))

    assert client.get(address(label)).status_code == 200


def test_a_curator_gains_no_right_by_posting_to_the_user_form(client, curator):
    form = {"username": "carol", "is_superuser": "on", "is_staff": "on", "is_active": "on"}

    assert client.post(address("auth.user", "change", curator.pk), form).status_code == 403
    curator.refresh_from_db()
    assert not curator.is_superuser


def test_the_queue_dashboard_is_not_served(client, root):
    assert client.get("/admin/django_rq/dashboard/").status_code == 404


def test_an_action_asks_why_first(client, curator):
    run = make_run(entrants=2, prompts=1, attempts=1)
    sample = run.samples.first()

    page = act(client, [sample], "exclude_samples", reason=None).content.decode()
    empty = act(client, [sample], "exclude_samples", reason="  ").content.decode()

    assert "Why" in page
    assert f"sample {sample.code}" in page
    assert "This field is required." in empty
    assert not run.samples.exclude(excluded_reason="").exists()
    assert not Event.objects.exists()


def test_excluding_is_logged_and_undone(client, curator):
    run = make_run(entrants=2, prompts=1, attempts=1)
    first, second = run.samples.all()

    text = act(client, [first], "exclude_samples", reason="a copy of another").content.decode()

    assert "Excluded: 1." in text
    assert list(run.samples.judgeable()) == [second]
    event = Event.objects.get()
    assert (event.actor, event.verb, event.subject) == (curator, "exclude_samples", f"drawing {first.code}")
    assert (event.reason, event.facts) == ("a copy of another", {"drawings": [first.code]})
    run.refresh_from_db()
    assert run.scores_changed_at is not None

    act(client, [first, second], "restore_samples")

    assert run.samples.judgeable().count() == 2
    assert Event.objects.first().facts == {"drawings": [first.code]}


def test_excluding_what_is_excluded_changes_nothing(client, curator):
    sample = make_run(entrants=2, prompts=1, attempts=1).samples.first()
    act(client, [sample], "exclude_samples", reason="first")

    text = act(client, [sample], "exclude_samples", reason="second").content.decode()

    sample.refresh_from_db()
    assert (sample.excluded_reason, Event.objects.count()) == ("first", 1)
    assert "Nothing changed." in text


def test_all_that_match_a_filter_can_be_excluded_at_once(client, curator):
    run = make_run(entrants=3, prompts=4, attempts=2)
    other = make_run(entrants=2, prompts=1, attempts=1)

    client.post(
        f"{address('generation.sample')}?run__id__exact={run.pk}",
        {"action": "exclude_samples", "index": 0, "_selected_action": [run.samples.first().pk], "select_across": 1}
        | {"confirmed": "yes", "reason": "all of it"},
    )

    assert (run.samples.judgeable().count(), other.samples.judgeable().count()) == (0, 2)
    assert Event.objects.get().subject == "24 drawings"


def test_a_leak_is_marked_and_cleared(client, curator):
    sample = make_run(entrants=2, prompts=1, attempts=1).samples.first()

    act(client, [sample], "mark_identity_leak")

    sample.refresh_from_db()
    assert (sample.held, sample.flags) == (True, ["leak_marked"])

    act(client, [sample], "clear_identity_leak")

    sample.refresh_from_db()
    assert (sample.held, sample.flags) == (False, [])
    assert [event.verb for event in Event.objects.all()] == ["clear_identity_leak", "mark_identity_leak"]


def test_an_offensive_drawing_is_out_until_it_is_restored(client, curator):
    sample = make_run(entrants=2, prompts=1, attempts=1).samples.first()

    act(client, [sample], "mark_offensive", reason="a slur")

    sample.refresh_from_db()
    assert (sample.excluded_reason, sample.flags) == ("offensive: a slur", ["offensive"])

    act(client, [sample], "restore_samples")

    sample.refresh_from_db()
    assert (sample.excluded_reason, sample.flags) == ("", [])


def test_a_disqualified_entrant_draws_nothing_more_and_comes_back_whole(client, curator):
    run = make_run(entrants=2, prompts=2, attempts=1)
    entrant = run.entrants.first()
    waiting = entrant.samples.first()
    Sample.objects.filter(pk=waiting.pk).update(state="pending", verdict="", drawn_at=None)

    act(client, [entrant], "disqualify_entrants", reason="used a letter of the target")

    entrant.refresh_from_db()
    waiting.refresh_from_db()
    assert (entrant.disqualified, entrant.approved) == ("used a letter of the target", False)
    assert waiting.state == "cancelled"
    assert not run.samples.judgeable().filter(entrant=entrant).exists()

    act(client, [entrant], "approve_entrants", reason="a mistake")

    entrant.refresh_from_db()
    waiting.refresh_from_db()
    assert (entrant.disqualified, entrant.approved, waiting.state) == ("", True, "pending")


@pytest.mark.parametrize(
    ("verb", "before", "after"),
    [
        ("publish_runs", {}, {"visibility": "published"}),
        ("unpublish_runs", {"visibility": "published"}, {"visibility": "private"}),
        (
            "archive_runs",
            {"visibility": "published"},
            {"visibility": "archived", "drawing_state": "paused", "judging_state": "closed"},
        ),
        ("freeze_runs", {}, {"drawing_state": "paused", "judging_state": "closed", "is_frozen": True}),
    ],
)
def test_a_run_is_published_put_away_and_frozen(client, curator, verb, before, after):
    run = make_run(entrants=2, prompts=1, attempts=1)
    Run.objects.filter(pk=run.pk).update(**before)

    act(client, [run], verb, reason="the term is over")

    run.refresh_from_db()
    statuses = {
        "is_frozen": run.frozen_at is not None,
        **{name: getattr(run, name) for name in after if name != "is_frozen"},
    }
    assert statuses == {"is_frozen": False, **after}
    assert Event.objects.get(run=run, actor=curator).reason == "the term is over"


def test_a_frozen_run_refuses_whatever_could_change_a_score(client, curator):
    run = make_run(entrants=2, prompts=1, attempts=1)
    sample, failed, entrant = run.samples.first(), run.samples.last(), run.entrants.first()
    Sample.objects.filter(pk=failed.pk).update(state="failed", verdict="", drawn_at=None)
    act(client, [run], "freeze_runs")

    for row, verb in [
        (sample, "exclude_samples"),
        (sample, "mark_identity_leak"),
        (failed, "retry_samples"),
        (entrant, "disqualify_entrants"),
        (run, "retry_runs"),
        (run, "ask_reread"),
    ]:
        assert "is frozen: its leaderboard is final" in act(client, [row], verb).content.decode(), verb

    sample.refresh_from_db()
    entrant.refresh_from_db()
    assert (sample.excluded_reason, sample.held, entrant.disqualified) == ("", False, "")
    assert [event.verb for event in Event.objects.all()] == ["freeze_run"]

    act(client, [run], "thaw_runs")

    assert "Excluded: 1." in act(client, [sample], "exclude_samples").content.decode()


def test_what_failed_is_retried(client, curator):
    run = make_run(entrants=2, prompts=1, attempts=1)
    sample = run.samples.first()
    Sample.objects.filter(pk=sample.pk).update(state="failed", claims=6, verdict="")

    assert "1 samples will be retried" in act(client, [run], "retry_runs").content.decode()

    sample.refresh_from_db()
    assert (sample.state, sample.claims) == ("pending", 0)


def test_staff_without_the_curators_group_see_no_table(client):
    client.force_login(User.objects.create_user("bob", is_staff=True))

    assert client.get(address("generation.sample")).status_code == 403
    sample = make_run(entrants=2, prompts=1, attempts=1).samples.first()
    assert act(client, [sample], "exclude_samples").status_code == 403
    sample.refresh_from_db()
    assert sample.excluded_reason == ""


def test_drawings_are_text_or_pictures_never_markup(client, curator):
    run = make_run(entrants=2, prompts=1, attempts=1)
    hostile = "</pre><script>document.title='owned'</script>"
    run.samples.update(drawing=hostile)

    text = client.get(address("generation.sample")).content.decode()
    Run.objects.filter(pk=run.pk).update(format="svg")
    picture = client.get(address("generation.sample")).content.decode()

    assert hostile not in text
    assert "&lt;/pre&gt;&lt;script&gt;" in text
    assert "owned" not in picture
    assert f'src="/samples/{run.samples.first().code}/picture/"' in picture


def test_a_sample_whose_answer_comes_while_it_is_retried_is_not_drawn_again(curator, monkeypatch):
    run = make_run(entrants=2, prompts=1, attempts=1)
    run.samples.update(state="failed", verdict="", drawn_at=None)
    late = run.samples.first()

    def answered():
        run.samples.filter(pk=late.pk).update(state="drawn", drawn_at=now())
        return now()

    monkeypatch.setattr(curating, "now", answered)
    curating.retry_samples(run.samples.all(), by=curator, reason="the provider is back")

    assert dict(run.samples.values_list("pk", "state")) == {late.pk: "drawn", run.samples.last().pk: "pending"}


def test_chosen_samples_that_failed_are_drawn_again_and_the_others_stay(client, curator):
    run = make_run(entrants=2, prompts=2, attempts=1)
    one, other, drawn = run.samples.all()[:3]
    Sample.objects.filter(pk__in=[one.pk, other.pk]).update(state="failed", verdict="", drawn_at=None, claims=3)

    act(client, [one, drawn], "retry_samples", reason="the provider is back")

    states = dict(run.samples.values_list("pk", "state"))
    assert (states[one.pk], states[other.pk], states[drawn.pk]) == ("pending", "failed", "drawn")
    assert Sample.objects.get(pk=one.pk).claims == 0
    assert Event.objects.get(run=run, verb="retry_samples").facts == {"drawings": [one.code]}


def test_names_of_tables_are_english(client, curator):
    page = client.get(reverse("admin:index")).content.decode()

    assert "Judge tallies" in page
    assert "tallys" not in page
