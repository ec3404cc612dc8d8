"""A provider that cannot be reached is named while its calls are still waited for."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from generation.demo.server import start
from generation.drawing import silence
from generation.drawing.silence import Silence
from generation.providers.connections import no_connection
from tests.services import free_port


@pytest.fixture
def troubles(monkeypatch):
    noted = []
    monkeypatch.setattr(silence, "note_trouble", lambda what, words: noted.append((what, words)))
    return noted


async def look(watched, url):
    watched.look_around([SimpleNamespace(name="demo", base_url=url)])
    await asyncio.gather(*watched._looks.values())


def test_a_provider_that_cannot_be_reached_is_reported_and_one_that_can_is_not(troubles):
    demo = start()

    async def both():
        watched = Silence(after=0.0, every=0.0)
        await look(watched, demo.url)
        assert troubles == []
        await look(watched, f"http://127.0.0.1:{free_port()}/v1")
        assert watched._away == {"demo"}
        await look(watched, demo.url)
        assert watched._away == set()

    asyncio.run(both())
    demo.stop()

    assert [what for what, _ in troubles] == ["provider demo"]


def test_a_provider_that_was_just_heard_is_left_alone():
    async def watch():
        watched = Silence(after=60.0)
        profile = SimpleNamespace(name="demo", base_url="http://127.0.0.1:1")
        watched.heard(profile)
        watched.look_around([profile])
        assert watched._looks == {}

    asyncio.run(watch())


def test_a_slow_provider_that_can_be_reached_has_been_heard(troubles):
    demo = start()

    async def watch():
        watched = Silence(after=0.0, every=0.0)
        await look(watched, demo.url)
        first = watched._looks["demo"]
        watched.after = 60.0
        await look(watched, demo.url)
        assert watched._looks["demo"] is first

    asyncio.run(watch())
    demo.stop()


def test_an_address_that_answers_nothing_is_given_up(monkeypatch):
    async def never(*_):
        await asyncio.sleep(60)

    monkeypatch.setattr(asyncio, "open_connection", never)

    assert asyncio.run(no_connection("https://model.example.org/v1", seconds=0.01)) == "no answer for 0.01 s"
