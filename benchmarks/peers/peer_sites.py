"""How a pair is set up and voted on in Label Studio, Potato and Pearmut: the requests that their own pages send.

Each vote stores the answer and brings the next pair. What a page only sends along (drafts, telemetry, pictures of the page itself)
is left out, so that each tool is measured at its cheapest.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import yaml

from benchmarks.peers.peer_environments import Environment, UnavailableError
from benchmarks.speed.judging_crowd import Line

JSON = "application/json"
SIDES = ("left", "right")


def drawing(number: int, side: str) -> str:
    """As long as those that our own judges see."""
    return "\n".join(f"{'#' * (10 + n)} {side} {number}" for n in range(20))


class Annotator(ABC):
    """Somebody at a tool's page; `vote` answers the pair on the screen and brings the next."""

    def __init__(self, base: str, headers: dict[str, str] | None = None) -> None:
        self.line = Line(base, {"Accept": JSON} | (headers or {}))

    @abstractmethod
    async def open(self) -> None: ...

    @abstractmethod
    async def vote(self) -> None: ...

    async def ask(self, method: str, path: str, body: Any = None) -> bytes:
        content = json.dumps(body).encode() if body is not None else b""
        status, answer = await asyncio.wait_for(self.line.send(method, path, content, JSON), 120)
        if status not in (200, 201):
            raise UnavailableError(f"{method} {path} answered {status}: {answer[:200]!r}")
        return answer

    async def ask_json(self, path: str, body: Any) -> Any:
        return json.loads(await self.ask("POST", path, body))


@dataclass(frozen=True)
class Site:
    """A tool: its package, how it is started for a folder and a port, and who votes there."""

    name: str
    package: str
    command: Callable[[Environment, Path, int, list[int]], list[str]]  # also writes what it needs to the folder
    annotators: Callable[[str, Path, list[int]], list[Annotator]]
    least_python: tuple[int, int] = (3, 11)
    variables: tuple[tuple[str, str], ...] = ()


# Label Studio: an annotation, then the data manager's next task.

PAIRWISE = """<View><Pairwise name="pair" toName="left,right"/>
<Text name="left" value="$left"/><Text name="right" value="$right"/></View>"""


class LabelStudioAnnotator(Annotator):
    def __init__(self, base: str, headers: dict[str, str], project: int) -> None:
        super().__init__(base, headers)
        self.project, self.task = project, 0

    async def open(self) -> None:
        task = await self.ask_json(f"/api/dm/actions/?id=next_task&project={self.project}", {})
        self.task = task["id"]

    async def vote(self) -> None:
        value = {"id": f"{random.getrandbits(40):x}", "type": "pairwise", "from_name": "pair", "to_name": "left"}
        result = [value | {"value": {"selected": random.choice(SIDES)}}]
        body = {"result": result, "lead_time": 1.2, "draft_id": 0, "parent_prediction": None, "project": self.project}
        await self.ask_json(f"/api/tasks/{self.task}/annotations/?project={self.project}", body)
        await self.open()


def _label_studio_command(environment: Environment, folder: Path, port: int, _: list[int]) -> list[str]:
    start = [environment.program("label-studio"), "start", "--no-browser", "--port", str(port), "--host", ""]
    return [*start, "--data-dir", str(folder), "--log-level", "ERROR"]


def _label_studio_annotators(base: str, _: Path, items: list[int]) -> list[Annotator]:
    people = [_label_studio_account(base, number) for number in range(len(items))]
    owner = people[0]
    made = owner.post("/api/projects/", json={"title": "Bench", "label_config": PAIRWISE})
    project = _taken(made)["id"]
    wanted = sum(items)
    for start in range(0, wanted, 500):
        tasks = [{side: drawing(n, side) for side in SIDES} for n in range(start, min(start + 500, wanted))]
        _taken(owner.post(f"/api/projects/{project}/import", json=tasks))
    return [LabelStudioAnnotator(base, _session(base, person), project) for person in people]


def _label_studio_account(base: str, number: int) -> httpx.Client:
    client = httpx.Client(base_url=base, timeout=120, headers={"Referer": base})
    client.get("/user/signup/")
    fields = {
        "email": f"judge{number}@example.org",
        "password": "long enough 123",
        "csrfmiddlewaretoken": _token(client),
    }
    answer = client.post("/user/signup/", data=fields)
    if answer.status_code != 302:
        raise UnavailableError(f"Label Studio did not sign up a judge: {answer.status_code}")
    client.headers["X-CSRFToken"] = _token(client)
    return client


def _token(client: httpx.Client) -> str:
    return next((cookie.value or "" for cookie in client.cookies.jar if "csrf" in cookie.name), "")


def _taken(answer: httpx.Response) -> Any:
    if answer.status_code not in (200, 201):
        raise UnavailableError(f"{answer.request.url.path} answered {answer.status_code}: {answer.text[:200]}")
    return answer.json()


def _session(base: str, client: httpx.Client) -> dict[str, str]:
    cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in client.cookies.jar)
    token = {"X-CSRFToken": _token(client)} if _token(client) else {}
    return {"Cookie": cookies, "Referer": base} | token


# Potato: the answer, a step to the next item, and its page.

_INSTANCE = re.compile(rb'id="instance_id"[^>]*value="([^"]+)"|value="([^"]+)"[^>]*id="instance_id"')


class PotatoAnnotator(Annotator):
    async def open(self) -> None:
        page = await self.ask("GET", "/annotate")
        item = _INSTANCE.search(page)
        if not item:
            raise UnavailableError(f"Potato's page names no item: {page[:200]!r}")
        self.item = (item[1] or item[2]).decode()

    async def vote(self) -> None:
        body = {"instance_id": self.item, "annotations": {"pair:selection": random.choice("AB")}}
        body |= {"cleared_schemas": [], "span_annotations": [], "response_time_seconds": 1.2}
        body["client_timestamp"] = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
        saved = await self.ask_json("/updateinstance", body)
        if saved.get("status") == "error":
            raise UnavailableError(f"Potato refused a vote: {saved}")
        await self.ask_json("/annotate", {"action": "next_instance", "instance_id": self.item})
        await self.open()


def _potato_command(environment: Environment, folder: Path, port: int, items: list[int]) -> list[str]:
    lines = [
        json.dumps({"id": f"item{n}", "text": [drawing(n, side) for side in SIDES]}) for n in range(max(items) + 10)
    ]
    (folder / "items.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    scheme = {"annotation_type": "pairwise", "name": "pair", "description": "Which is better?", "items_key": "text"}
    config = {
        "annotation_task_name": "Bench",
        "task_dir": ".",
        "output_annotation_dir": "annotations",
        "data_files": ["items.jsonl"],
        "item_properties": {"id_key": "id", "text_key": "text"},
        "annotation_schemes": [scheme],
        "require_password": False,
        "max_annotations_per_user": -1,
        "max_annotations_per_item": -1,
    }
    (folder / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    return [environment.program("potato"), "start", str(folder / "config.yaml"), "-p", str(port)]


def _potato_annotators(base: str, _: Path, items: list[int]) -> list[Annotator]:
    people: list[Annotator] = []
    for number in range(len(items)):
        with httpx.Client(base_url=base, timeout=120, headers={"Referer": base}) as client:
            client.post("/auth", data={"email": f"judge{number}", "pass": ""})
            headers = {"Accept": "*/*", "X-Potato-Navigation": "1", "Origin": base}
            people.append(PotatoAnnotator(base, _session(base, client) | headers))
    return people


# Pearmut: the answer with the item and the actions that led to it, then the next item.


class PearmutAnnotator(Annotator):
    def __init__(self, base: str, user: str) -> None:
        super().__init__(base)
        self.who = {"campaign_id": "bench", "user_id": user}

    async def open(self) -> None:
        self.item = await self.ask_json("/get-next-item", self.who)
        if self.item.get("status") != "ok":
            raise UnavailableError(f"Pearmut has no item left: {self.item.get('status')}")

    async def vote(self) -> None:
        moment = time.time()
        scores = {side: {"score": random.randrange(100), "error_spans": []} for side in SIDES}
        actions = [{"time": moment - 1, "action": "load"}, {"time": moment, "action": "submit"}]
        payload = {"annotation": [scores], "actions": actions, "item": self.item["payload"]}
        await self.ask_json("/log-response", self.who | {"item_i": self.item["info"]["item_i"], "payload": payload})
        await self.open()


def _pearmut_command(environment: Environment, folder: Path, port: int, items: list[int]) -> list[str]:
    tasks = [
        [[{"src": f"Draw thing {n}", "tgt": {side: drawing(n, side) for side in SIDES}}] for n in range(count)]
        for count in items
    ]
    info = {"assignment": "task-based", "protocol": "DA", "users": [f"judge{n}" for n in range(len(items))]}
    campaign = {"info": info, "campaign_id": "bench", "data": tasks}
    (folder / "campaign.json").write_text(json.dumps(campaign), encoding="utf-8")
    program = environment.program("pearmut")
    return ["sh", "-c", f'"{program}" add campaign.json && exec "{program}" run --port {port}']


def _pearmut_annotators(base: str, _: Path, items: list[int]) -> list[Annotator]:
    return [PearmutAnnotator(base, f"judge{number}") for number in range(len(items))]


SITES = (
    Site("Label Studio", "label-studio", _label_studio_command, _label_studio_annotators),
    Site("Potato", "potato-annotation", _potato_command, _potato_annotators),
    Site("Pearmut", "pearmut", _pearmut_command, _pearmut_annotators, least_python=(3, 12)),
)
