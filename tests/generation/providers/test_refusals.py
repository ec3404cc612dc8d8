"""A model judge's request as real servers take it, and what is left out where one refuses a part."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from generation.formats import get_format
from generation.providers.client import Client
from generation.providers.errors import ProviderError
from generation.providers.requests import Request
from generation.suites.profiles import Profile
from tests.generation.providers.fakes import Fake, Ollama, serving

PICTURES = tuple(f"data:image/png;base64,{letters}" for letters in ("iVBORw0K", "iVBORw0L"))
SCHEMA = get_format("ballot").answer_schema({})
ANSWER = '{"answer": "A", "reason": "It shows the whole bicycle."}'
QUESTION = Request(
    "drawer",
    ({"role": "system", "content": "Compare."}, {"role": "user", "content": "A bicycle", "images": PICTURES}),
    max_tokens=4000,
    schema=SCHEMA,
)
NO_SCHEMA = (
    "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model. Learn more about supported "
    "models at the Structured Outputs guide"
)
NO_LIMIT = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."


class Server(Fake):
    """Speaks OpenAI's protocol; refuses what `refused` names, in these words."""

    def __init__(self, **refused: str) -> None:
        super().__init__()
        self.refused = refused

    def answer(self, method, path, query, body):
        for name, words in self.refused.items():
            if name in body:
                return 400, {"error": {"message": words, "type": "invalid_request_error", "param": name, "code": None}}
        return 200, {"choices": [{"finish_reason": "stop", "message": {"content": ANSWER}}]}


def ask(fake, *questions, kind="openai"):
    async def all_of_them():
        async with Client() as client:
            profile = Profile("server", fake.url, kind=kind)
            try:
                return [await client.ask(profile, question, deadline=5) for question in questions]
            except ProviderError as error:
                return error

    return asyncio.run(all_of_them())


def test_pictures_go_as_data_addresses_and_the_answer_is_asked_for_by_schema():
    with serving(Server()) as fake:
        ask(fake, QUESTION)

    (body,) = fake.bodies("/chat/completions")
    assert [part["type"] for part in body["messages"][1]["content"]] == ["text", "image_url", "image_url"]
    assert [part["image_url"]["url"] for part in body["messages"][1]["content"][1:]] == list(PICTURES)
    wanted = body["response_format"]["json_schema"]
    assert (body["response_format"]["type"], wanted["strict"]) == ("json_schema", True)
    assert wanted["schema"] == {
        "type": "object",
        "properties": {
            "answer": {"type": "string", "enum": ["A", "B", "both good", "both bad"]},
            "reason": {"type": "string"},
        },
        "required": ["answer", "reason"],
        "additionalProperties": False,
    }


def test_ollamas_own_api_gets_bare_pictures_and_the_schema_as_its_format():
    with serving(Ollama()) as fake:
        ask(fake, QUESTION, kind="ollama")

    (body,) = fake.bodies("/api/chat")
    assert body["messages"][1]["images"] == ["iVBORw0K", "iVBORw0L"]
    assert body["format"] == SCHEMA


@pytest.mark.parametrize(
    ("refused", "left"),
    [
        ({"response_format": NO_SCHEMA}, {"max_tokens": 4000}),
        ({"response_format": NO_SCHEMA, "max_tokens": NO_LIMIT}, {"max_completion_tokens": 4000}),
    ],
)
def test_what_a_server_refuses_is_left_out_and_not_sent_again(refused, left):
    with serving(Server(**refused)) as fake:
        replies = ask(fake, QUESTION, QUESTION)

    assert [reply.text for reply in replies] == [ANSWER, ANSWER]
    *_, before_last, last = fake.bodies("/chat/completions")
    assert before_last == last
    assert len(fake.requests) == 2 + len(refused)
    assert "response_format" not in last
    assert {name: value for name, value in last.items() if name.startswith("max")} == left


def test_a_refusal_of_anything_else_and_a_drawings_request_stay_as_they_are():
    with serving(Server(messages="No.")) as fake:
        refused = ask(fake, QUESTION)
    with serving(Server(max_tokens=NO_LIMIT)) as other:
        drawing = ask(other, replace(QUESTION, schema=None))

    assert (refused.code, len(fake.requests)) == ("bad_request", 1)
    assert (drawing.code, len(other.requests)) == ("bad_request", 1)


def test_the_schema_of_a_grade_sheet_has_every_dimension_of_the_question():
    schema = get_format("grade_sheet").answer_schema({"dimensions": ["shape", "colour"], "scale": [0, 10, 0.5]})

    assert schema["required"] == ["shape", "colour"]
    assert schema["properties"]["colour"]["required"] == ["grade", "reason"]
    assert json.dumps(schema).count('"additionalProperties": false') == 3
