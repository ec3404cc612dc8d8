"""A provider to log in at, and settings that know it."""

from __future__ import annotations

import pytest

from tests.accounts.oidc_provider import CLIENT, SECRET, Provider


@pytest.fixture
def provider(settings):
    provider = Provider()
    settings.OIDC_ISSUER, settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = provider.issuer, CLIENT, SECRET
    settings.OIDC_NAME = "Example Lab"
    settings.OIDC_DOMAINS = ["lab.example"]
    yield provider
    provider.stop()
