"""The demo provider: the protocol, the bill, the faults, and players whose skills can be told apart."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import yaml

from generation.demo.answers import read_question
from generation.demo.judges import JUDGES
from generation.demo.players import PLAYERS
from generation.demo.server import Scripted, start
from generation.formats.ascii_art import demo as ascii_art
from generation.providers.client import Client
from generation.providers.errors import ProviderError
from generation.providers.replies import Reply
from generation.providers.requests import Request
from generation.suites.profiles import Profile

ROOT = Path(__file__).resolve().parents[3]
CAT = "Draw a cat in ASCII art"


def profile_of(server):
    return Profile("demo", server.url, kind="demo")


@pytest.fixture
def serve():
    running = []

    def begin(**knobs):
        server = start(**{"latency": 0.0, "faults": 0.0, **knobs})
        running.append(server)
        return server

    yield begin
    for server in running:
        server.stop()


def question(prompt=CAT, model="demo/master", **options):
    return Request(model, ({"role": "user", "content": prompt},), **{"temperature": 0.0, "max_tokens": 4000, **options})


def ask_all(server, requests, *, deadline=10.0):
    async def each(client, request) -> Reply | ProviderError:
        try:
            return await client.ask(profile_of(server), request, deadline=deadline)
        except ProviderError as error:
            return error

    async def together():
        async with Client() as client:
            return await asyncio.gather(*(each(client, request) for request in requests))

    return asyncio.run(together())


def get(url):
    with urllib.request.urlopen(url, timeout=10) as response:
        return json.load(response)


def test_it_works(serve):
    server = serve()

    (reply,) = ask_all(server, [question()])

    assert reply.text == "```\n" + "\n".join(ascii_art.library()["cat"]) + "\n```"
    assert (reply.finish_reason, reply.served_model, reply.served_provider) == ("stop", "demo/master", "Demo")
    assert reply.flags == ()
    assert reply.cost_nano == 3_000 * reply.prompt_tokens + 15_000 * reply.completion_tokens


def test_bill_is_the_sum_of_what_clients_were_told(serve):
    server = serve()

    replies = ask_all(server, [question(model=name) for name in PLAYERS for _ in range(3)])

    bill = get(server.url + "/bill")
    assert bill["total_nano"] == server.bill.total_nano == sum(reply.cost_nano for reply in replies) > 0
    assert (bill["requests"], bill["in_flight"], len(bill["log"])) == (15, 0, 15)
    assert {line["authorization"] for line in bill["log"]} == {False}
    assert "log" not in get(server.url + "/bill?log=0")


def test_cost_of_a_past_call_can_be_looked_up(serve):
    server = serve()
    (reply,) = ask_all(server, [question()])

    async def look():
        async with Client() as client:
            profile = profile_of(server)
            return [await client.lookup_cost(profile, code) for code in (reply.generation_id, "gen-nobody")]

    assert asyncio.run(look()) == [reply.cost_nano, None]


def test_listed_models_and_prices_are_those_of_the_demo_file(serve):
    server = serve()

    async def look():
        async with Client() as client:
            await client.check_key(profile_of(server))
            return await client.list_models(profile_of(server))

    listed = asyncio.run(look())
    players = yaml.safe_load((ROOT / "config" / "demo.yaml").read_text())["models"]
    assert [(m.id, float(m.price.input), float(m.price.output)) for m in listed.values() if m.id not in JUDGES] == [
        (entry["id"], entry["price_in"], entry["price_out"]) for entry in players
    ]


def test_many_calls_are_open_at_once(serve):
    server = serve(latency=0.3)

    ask_all(server, [question() for _ in range(20)])

    assert server.bill.most_in_flight > 10


def test_connection_is_used_again(serve):
    server = serve(plan=[None, Scripted(500, {"error": {"code": 500}})])

    async def one_after_another():
        async with Client() as client:
            for _ in range(5):
                with contextlib.suppress(ProviderError):
                    await client.ask(profile_of(server), question(), deadline=10)

    asyncio.run(one_after_another())
    assert (server.bill.requests, server.bill.connections) == (5, 1)


def test_temperature_zero_and_a_seed_repeat_themselves(serve):
    server = serve()
    maze = "Draw pixel art on a 24x24 grid.\nSubject: a maze"
    same = [question(maze), question(maze), question(maze, temperature=1.0, parameters={"seed": 7})]
    again = [question(maze, temperature=1.0, parameters={"seed": 7}), question(maze, temperature=1.0)]

    texts = [reply.text for reply in ask_all(server, same + again)]

    assert texts[0] == texts[1]
    assert texts[2] == texts[3]
    assert len(set(texts)) == 3


def test_answer_over_the_limit_is_cut(serve):
    (reply,) = ask_all(serve(), [question(max_tokens=10)])

    assert (reply.finish_reason, reply.completion_tokens, len(reply.text)) == ("length", 10, 30)


def test_busy_player_says_when_to_come_back(serve):
    server = serve(faults=1000.0)

    (error,) = ask_all(server, [question()])

    assert (error.code, error.retry_after, error.cost_nano) == ("rate_limited", 1.0, 0)
    assert server.bill.total_nano == 0


def test_scripted_replies_come_in_order(serve):
    plan = [Scripted(503, {"error": {"code": 503, "message": "x"}}), None, Scripted(drop=True), Scripted(hang=5.0)]
    plan.append(Scripted(drip=0.2))
    server = serve(plan=plan)

    outcomes = [ask_all(server, [question()], deadline=0.5)[0] for _ in plan]

    assert [getattr(outcome, "code", "answered") for outcome in outcomes] == [
        "provider_error", "answered", "connection_error", "timeout", "deadline",
    ]  # fmt: skip
    # Three answers were charged though the client never saw them: that is what reservations are for.
    assert server.bill.total_nano == 4 * outcomes[1].cost_nano


def test_plan_can_be_a_function_of_the_question(serve):
    server = serve(plan=lambda number, body: Scripted(402) if body["model"] == "demo/beginner" else None)

    outcomes = ask_all(server, [question(), question(model="demo/beginner")])

    assert isinstance(outcomes[0], Reply)
    assert outcomes[1].code == "out_of_credits"


def test_wrong_key_and_unknown_player_are_refused(serve):
    (refused,) = ask_all(serve(api_key="right"), [question()])
    (unknown,) = ask_all(serve(), [question(model="demo/nobody")])

    assert (refused.code, unknown.code) == ("bad_credentials", "model_unavailable")


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"model": "demo/master", "messages": []}', b"\xff"])
def test_nonsense_is_a_bad_request(body, serve):
    request = urllib.request.Request(serve().url + "/chat/completions", data=body)

    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(request, timeout=10)

    with caught.value as answer:
        assert (answer.code, json.load(answer)["error"]["code"]) == (400, 400)


def test_it_runs_as_a_process_of_its_own():
    command = [sys.executable, "-m", "generation.demo", "--port", "0", "--latency", "0", "--faults", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            url = process.stdout.readline().strip()
            assert [model["id"] for model in get(url + "/models")["data"]] == [*PLAYERS, *JUDGES]
        finally:
            process.terminate()
    assert process.returncode == 0


def test_port_in_use_is_one_clear_sentence(serve):
    port = serve().url.split(":")[2].split("/")[0]

    done = subprocess.run(
        [sys.executable, "-m", "generation.demo", "--port", port], cwd=ROOT, capture_output=True, text=True, timeout=20
    )

    assert done.returncode == 1
    assert re.fullmatch(r"The demo provider cannot listen on 127\.0\.0\.1:\d+: .+\.\n", done.stderr)


@pytest.mark.parametrize(
    ("prompt", "mark"),
    [
        ("Generate the SVG code for the Pokémon Charizard", "<svg"),
        ("Draw pixel art on a 24x24 grid.\nSubject: hope", '"grid"'),
        ("Use drop_block to build the letter C", "drop_block('b31'"),
        ("Draw a robot inside a castle in ASCII art", "[=====]"),
    ],
)
def test_each_suite_is_answered_in_its_own_format(prompt, mark, serve):
    (reply,) = ask_all(serve(), [question(prompt)])

    assert mark in reply.text
    assert reply.text.startswith("```")


def test_request_parts_are_read():
    asked = read_question(
        {"model": "m", "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}], "seed": 3}
    )

    assert (asked.texts, asked.users, asked.temperature, asked.max_tokens, asked.seed) == (
        ("s", "u"),
        ("u",),
        1.0,
        None,
        3,
    )
