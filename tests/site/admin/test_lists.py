"""Every admin list and page opens, shows its rows, and asks the database a fixed number of times."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from tests.site.admin.rows import make_rows

pytestmark = pytest.mark.django_db

OURS = sorted(
    model._meta.label_lower
    for app in ("generation", "judging", "ranking")
    for model in apps.get_app_config(app).get_models()
)


def queries(client, address: str) -> int:
    with CaptureQueriesContext(connection) as seen:
        assert client.get(address).status_code == 200
    return len(seen)


def test_every_list_and_page_opens_with_as_many_queries_for_three_runs_as_for_one(client, curator):
    make_rows(curator)
    lists = {label: reverse(f"admin:{label.replace('.', '_')}_changelist") for label in OURS}
    client.get(lists["generation.run"])  # what is asked once in a process is asked here
    one = {label: queries(client, address) for label, address in lists.items()}
    empty = [label for label in OURS if not apps.get_model(label).objects.exists()]
    make_rows(curator, number=1)
    make_rows(curator, number=2)

    three = {label: queries(client, address) for label, address in lists.items()}

    assert empty == []
    assert three == one


def test_a_row_of_every_table_has_a_page_without_a_field_to_fill_in(client, curator):
    make_rows(curator)

    for label in OURS:
        row = apps.get_model(label).objects.first()
        page = client.get(reverse(f"admin:{label.replace('.', '_')}_change", args=[row.pk])).content.decode()
        assert "<textarea" not in page, label
        assert 'name="_save"' not in page, label


def test_lists_are_searched(client, curator):
    run = make_rows(curator)
    sample = run.samples.last()
    address = reverse("admin:generation_sample_changelist")

    assert [row.pk for row in client.get(f"{address}?q={sample.code}").context["cl"].result_list] == [sample.pk]
    assert client.get(f"{address}?q=nothing-like-it").context["cl"].result_count == 0


def test_a_run_a_sample_a_matchup_and_a_vote_link_to_each_other(client, curator):
    run = make_rows(curator)
    vote = run.votes.first()
    sample, matchup = vote.matchup.left_sample, vote.matchup

    def page(table: str, query: str) -> str:
        return client.get(f"{reverse(f'admin:{table}_changelist')}?{query}").content.decode()

    assert f"/admin/judging/vote/?run__id__exact={run.pk}" in page("generation_run", "")
    assert f"/admin/judging/matchup/?left_sample__id__exact={sample.pk}" in page(
        "generation_sample", f"q={sample.code}"
    )
    shown = page("judging_matchup", f"left_sample__id__exact={sample.pk}")
    assert f"/admin/generation/sample/{sample.pk}/change/" in shown
    assert f"/admin/judging/vote/?matchup__id__exact={matchup.pk}" in shown
    voted = page("judging_vote", f"matchup__id__exact={matchup.pk}")
    assert f"/admin/judging/matchup/{matchup.pk}/change/" in voted
    assert f"/admin/generation/run/{run.pk}/change/" in voted


def test_no_page_of_the_admin_holds_an_invitation_link(client, curator):
    invitation = make_rows(curator).invitations.get()

    for page, args in (("changelist", []), ("change", [invitation.pk])):
        text = client.get(reverse(f"admin:judging_invitation_{page}", args=args)).content.decode()
        assert f"invitation {invitation.pk}" in text
        assert invitation.token not in text
