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
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest
import yaml

from generation.chat_requests import Request
from generation.demo import ascii_art, creatures, letters, pixels
from generation.demo.answers import answer_to, read_question
from generation.demo.players import PLAYERS
from generation.demo.server import Scripted, start, tokens_in
from generation.formats import get_format
from generation.formats.base import Answer
from generation.provider_errors import ProviderError
from generation.providers import Client
from generation.replies import Reply

ROOT = Path(__file__).resolve().parents[2]
CAT = "Draw a cat in ASCII art"


@dataclass(frozen=True)
class StubProfile:
    """A demo profile with the fields the client reads."""

    base_url: str
    kind: str = "demo"
    key_env: str = ""
    name: str = "demo"
    headers: dict = field(default_factory=dict)


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
            return await client.ask(StubProfile(server.url), request, deadline=deadline)
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
            profile = StubProfile(server.url)
            return [await client.lookup_cost(profile, code) for code in (reply.generation_id, "gen-nobody")]

    assert asyncio.run(look()) == [reply.cost_nano, None]


def test_listed_models_and_prices_are_those_of_the_demo_file(serve):
    server = serve()

    async def look():
        async with Client() as client:
            await client.check_key(StubProfile(server.url))
            return await client.list_models(StubProfile(server.url))

    listed = asyncio.run(look())
    told = yaml.safe_load((ROOT / "config" / "demo.yaml").read_text())["models"]
    assert [(m.id, float(m.price.input), float(m.price.output)) for m in listed.values()] == [
        (entry["id"], entry["price_in"], entry["price_out"]) for entry in told
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
                    await client.ask(StubProfile(server.url), question(), deadline=10)

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
    server = serve(plan=plan)

    outcomes = [ask_all(server, [question()], deadline=0.5)[0] for _ in plan]

    assert [getattr(outcome, "code", "answered") for outcome in outcomes] == [
        "provider_error", "answered", "connection_error", "timeout",
    ]  # fmt: skip
    # Two answers were charged though the client never saw them: that is what reservations are for.
    assert server.bill.total_nano == 3 * outcomes[1].cost_nano


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
            assert [model["id"] for model in get(url + "/models")["data"]] == list(PLAYERS)
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


def words(name):
    return yaml.safe_load((ROOT / "config" / "ascii" / "prompts.yaml").read_text())["words"][name]


@pytest.mark.parametrize("kind", ["OBJECT", "ANIMAL"])
def test_every_word_of_the_ascii_suite_has_a_drawing(kind):
    missing = [word for word in words(kind) if word not in ascii_art.library()]

    assert missing == []


def test_every_action_changes_the_drawing():
    cat = list(ascii_art.library()["cat"])
    scenes = {action: ascii_art.act(cat, action) for action in words("ACTION")}

    assert [action for action, scene in scenes.items() if scene == cat or f'  "{action}"' in scene] == []
    assert len({"\n".join(scene) for scene in scenes.values()}) == len(scenes)


@pytest.mark.parametrize("position", words("POSITION"))
def test_position_decides_where_things_are(position):
    scene = ascii_art.place(["aaa", "aaa"], position, ["bbbbb", "bbbbb", "bbbbb"])
    first = {mark: min(i for i, line in enumerate(scene) if mark in line) for mark in "ab"}
    column = {mark: min(line.index(mark) for line in scene if mark in line) for mark in "ab"}

    expected = {
        "on top of": first["a"] < first["b"],
        "far above": first["b"] - first["a"] > 4,
        "under": first["a"] > first["b"],
        "next to": column["a"] < column["b"],
        "to the left of": column["a"] < column["b"],
        "behind": "bbbbb" in "".join(scene) and first["a"] < first["b"],
        "in front of": "aaa" in "".join(scene) and first["b"] < first["a"],
        "inside": any(line.startswith("|") and "aaa" in line for line in scene),
    }
    assert expected[position]


def landed(drops):
    """Where blocks come to lie: the cells they fill, by the falling rule alone."""
    height, cells = [0] * 20, set()
    for kind, x in drops:
        wide, tall = int(kind[1]), int(kind[2])
        columns = range(x - wide // 2, x + wide // 2 + 1)
        bottom = max(height[column] for column in columns)
        cells |= {(column, bottom + row) for column in columns for row in range(tall)}
        for column in columns:
            height[column] = bottom + tall
    return cells


@pytest.mark.parametrize("letter", sorted(letters.pictures()))
def test_letter_lands_as_it_was_pictured(letter):
    for picture in (letters.pictures()[letter], letters.stretched(letters.pictures()[letter], Random(4))):
        top = len(picture) - 1
        wanted = {(x, top - row) for row, line in enumerate(picture) for x, mark in enumerate(line) if mark != "."}

        assert landed(letters.drops_of(picture)) == wanted


def test_every_letter_is_pictured():
    assert "".join(letters.pictures()) == "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@pytest.mark.parametrize(
    ("turns", "letter"),
    [
        (('Use drop_block() to build the letter "K".',), "K"),
        (("Generate a level that looks like the character A.",), "A"),
        (("First think about b31.", "Now drop blocks in the shape of W, please."), "W"),
        (("Target: <I>",), "I"),
        (("drop_block for Q",), "Q"),
    ],
)
def test_asked_letter_is_found(turns, letter):
    assert letters.letter_in(turns) == letter


def share(measure, skill, tries=60):
    return sum(measure(skill, Random(f"{skill} {i}")) for i in range(tries)) / tries


def pixel_quality(skill, random):
    try:
        grid = json.loads(pixels.draw("pixel art\nSubject: the sun", skill, random))["grid"]
    except ValueError:
        return 0.0
    size = len(grid) == 24 and all(len(row) == 24 for row in grid)
    return (size + min(len({cell for row in grid for cell in row}) / 8, 1)) / 2


def svg_parts(skill, random):
    try:
        root = ET.fromstring(creatures.draw("Generate the SVG code for the Pokémon Pikachu", skill, random))
    except ET.ParseError:
        return 0.0
    return sum("transform" not in shape.attrib for shape in root)


def letter_likeness(skill, random):
    text = letters.draw(('Use drop_block to build the letter "H"',), skill, random)
    found = [(kind, int(x)) for kind, x in re.findall(r"drop_block\('(b[13]{2})', (\d+)\)", text)]
    if any(not wide // 2 <= x < 20 - wide // 2 for wide, x in ((int(kind[1]), x) for kind, x in found)):
        return 0.0
    shapes = [landed(letters.drops_of(letters.stretched(letters.pictures()["H"], Random(i)))) for i in range(8)]
    cells = landed(found)
    left = min(x for x, _ in cells)
    cells = {(x - left, y) for x, y in cells}
    return max(len(cells & shape) / len(cells | shape) for shape in shapes)


def ascii_likeness(skill, random):
    drawn = ascii_art.draw(CAT, skill, random).split("\n")
    return len(set(drawn) & set(ascii_art.library()["cat"])) / len(ascii_art.library()["cat"])


@pytest.mark.parametrize("measure", [pixel_quality, svg_parts, letter_likeness, ascii_likeness])
def test_more_skill_draws_better(measure):
    scores = [share(measure, player.skill) for player in PLAYERS.values()]

    assert scores == sorted(scores, reverse=True)
    assert scores[0] > scores[2] > scores[4]


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


MASTERPIECES = [
    *(("ascii_art", f"Draw a {word} in ASCII art") for word in (*words("OBJECT"), *words("ANIMAL"))),
    *(("ascii_art", f"Draw a fox {action} in ASCII art") for action in words("ACTION")),
    *(("ascii_art", f"Draw a sailboat {position} a house in ASCII art") for position in words("POSITION")),
    *(("svg", f"Generate the SVG code for the Pokémon {name}") for name in (*creatures.HINTS, "Unheardof")),
    *(
        ("pixel_art", f"Draw pixel art on a 24x24 grid.\nSubject: {subject}")
        for subject in (*pixels.PAINTERS, "a frog")
    ),
]


@pytest.mark.parametrize(("format_name", "prompt"), MASTERPIECES)
def test_master_is_valid_without_a_flag(format_name, prompt):
    asked = read_question({"model": "demo/master", "messages": [{"role": "user", "content": prompt}], "seed": 1})
    text = answer_to(PLAYERS["demo/master"], asked, asked.random(PLAYERS["demo/master"]))

    found = get_format(format_name).extract(Answer(text, "stop", tokens_in(text), 1000))

    assert (found.reason, found.flags) == ("", ())


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
