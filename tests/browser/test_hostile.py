"""Hostile drawings in Chromium with the network recorded: nothing leaves the site, no script runs, no title changes."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from benchsite.accounts import make_curator
from generation.models import Sample
from tests.test_security_hostile import hostile_run

pytestmark = pytest.mark.django_db(transaction=True)

# Whatever of the corpus tries to act does so through one of these.
SPY = """
window.acted = [];
for (const name of ["alert", "confirm", "prompt", "open", "print"]) window[name] = () => window.acted.push(name);
"""


@pytest.mark.parametrize("kind", ["ascii", "svg"])
def test_the_corpus_asks_nobody_and_runs_nothing(page, live_server, log_in, kind):
    curator = User.objects.create_user("carol")
    make_curator(curator)
    run, corpus = hostile_run(kind)
    log_in(curator)
    asked, failed = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: failed.append(str(error)))
    page.on("dialog", lambda dialog: failed.append(dialog.message))
    page.add_init_script(SPY)
    page.set_viewport_size({"width": 1200, "height": 40_000})  # every picture is on the screen, and so is loaded
    titles = {}

    for path in (
        reverse("admin:generation_sample_changelist") + f"?run__id__exact={run.pk}",
        reverse("generation:samples", args=[run.code]),
        *(reverse("generation:sample", args=[code]) for code in codes(run)),
    ):
        page.goto(live_server.url + path, wait_until="load")
        assert page.evaluate("window.acted") == [], path
        titles[path] = page.title()

    assert [url for url in asked if not url.startswith(live_server.url + "/")] == []
    assert failed == []
    assert list(titles.values())[:2] == ["Select sample to view · Benchsite", f"Samples of {run}"]
    assert list(titles.values())[2:] == [f"Sample {code}" for code in codes(run)]
    assert len(titles) == len(codes(run)) + 2
    assert len(corpus) >= len(codes(run)) > 3


def codes(run) -> list[str]:
    """Drawings that judges might see, which are the ones that could act."""
    return list(Sample.objects.filter(run=run, verdict="valid").order_by("id").values_list("code", flat=True))
