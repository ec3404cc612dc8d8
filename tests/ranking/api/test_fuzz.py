"""The served OpenAPI document holds: requests made from it are answered as it says, and never with a 5xx."""

from __future__ import annotations

import pytest
from django.core.wsgi import get_wsgi_application

from benchmarks.fuzz.api import fuzz_api, world
from ranking import tokens

EXAMPLES = 8


@pytest.mark.long
@pytest.mark.django_db
@pytest.mark.filterwarnings("default")  # of the library's own
def test_every_operation_answers_as_the_document_says(client, settings, monkeypatch):
    settings.ALLOWED_HOSTS = ["testserver"]
    monkeypatch.setattr(tokens, "PER_MINUTE", 10**9)
    headers, names = world()
    document = client.get("/api/v1/openapi.json").json()

    statuses = fuzz_api(document, get_wsgi_application(), headers=headers, names=names, examples=EXAMPLES)

    assert max(statuses) < 500 and statuses[200] > 50 and statuses.keys() >= {200, 404, 422}
    assert statuses.total() >= EXAMPLES * sum(len(methods) for methods in document["paths"].values()) // 2
