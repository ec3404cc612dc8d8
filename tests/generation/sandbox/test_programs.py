"""Python programs in their sandbox: what they can do, and hostile ones that can do nothing else."""

from __future__ import annotations

import os
import socket

import pytest

from generation.sandbox import isolation
from generation.sandbox.programs import Limits, Outcome, Step, take_step, why_not
from tests.services import bubblewrap

LITTLE = Limits(seconds=1, patience=5.0, memory=128 << 20)


@pytest.fixture(scope="module", autouse=True)
def tool():
    bubblewrap()


def answered(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


def step(body: str, *pairs: tuple[str, str], limits: Limits = LITTLE, **options) -> Outcome:
    """One step of a program whose `run` has this body, after these questions and answers."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    source = f"import os, random, socket, sys, time\n\ndef run(target, ask):\n{lines}\n"
    asked, answers = tuple(answered(question) for question, _ in pairs), tuple(answer for _, answer in pairs)
    return take_step(Step(source, "A", seed=7, asked=asked, answers=answers, **options), limits)


def test_it_asks_and_ends_with_an_answer_of_the_model():
    body = "return ask(f'Build {target}.')"

    assert step(body) == Outcome(question=({"role": "user", "content": "Build A."},))
    assert step(body, ("Build A.", "It stands.")) == Outcome(answer="It stands.")


def test_branching_self_evaluation_and_search_work():
    body = (
        "drafts = [ask(f'Draft {n} of {target}.') for n in range(2)]\n"
        "marks = [int(ask(f'Mark this from 0 to 9: {draft}')) for draft in drafts]\n"
        "return drafts[marks.index(max(marks))]"
    )
    drafts = [("Draft 0 of A.", "one"), ("Draft 1 of A.", "two")]

    assert step(body, *drafts).question[0]["content"] == "Mark this from 0 to 9: one"
    marks = [("Mark this from 0 to 9: one", "3"), ("Mark this from 0 to 9: two", "8")]
    assert step(body, *drafts, *marks).answer == "two"


def test_it_may_ask_with_a_conversation():
    body = (
        "return ask([{'role': 'user', 'content': 'a'}, {'role': 'assistant', 'content': 'b'}, "
        "{'role': 'user', 'content': 'c'}])"
    )

    assert [message["content"] for message in step(body).question] == ["a", "b", "c"]


def test_chance_is_the_same_when_it_is_run_again():
    body = "return ask(str([random.random(), hash('a'), list({'x', 'y', 'z'})]))"

    assert step(body) == step(body)


def test_what_it_prints_is_not_taken_for_an_answer():
    assert step("""print('{"answer": "x"}')\nreturn ask('Build.')""").question


@pytest.mark.parametrize(
    ("body", "pairs", "why"),
    [
        ("return 'drop_block()'", [("x", "y")], "did not return one of the model's answers"),
        ("return 'drop_block()'", [], "ended without asking"),
        ("return ask(1)", [], "A question is text"),
        ("return ask([{'role': 'system', 'content': 'x'}])", [], "role (user or assistant)"),
        ("return ask([{'role': 'assistant', 'content': 'x'}])", [], "last message of a question is the user's"),
        ("return ask('a\\0b')", [], "A question is text"),
        ("return ask('x' * 30_000)", [], "at most 20,000 are allowed"),
        ("return ask({ask})", [], "not text"),
        ("return 1 / 0", [], "ZeroDivisionError in line 4: division by zero"),
        ("sys.exit()", [], "SystemExit in line 4"),
        ("return ask('Now: ' + str(time.time()))", [("Now: 1", "x")], "put another question in place of number 1"),
        ("while True: ask('More?')", [("More?", "x")] * 10, "asked more than 10 times"),
    ],
)
def test_a_programs_own_error_is_named(body, pairs, why):
    outcome = step(body, *pairs)

    assert why in outcome.error
    assert (outcome.question, outcome.answer) == ((), None)


@pytest.fixture
def listener():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


LEAKS = {
    "reads the machine's accounts": "open('/etc/passwd').read()",
    "reads this project": "open({here!r}).read()",
    "reads its parent's environment": "open('/proc/self/environ').read()",
    "lists processes": "os.listdir('/proc')",
    "writes to the disk": "open('/tmp/x', 'w')",
    "writes to the root": "open('/x', 'w')",
    "writes to its libraries": "open('/usr/lib/x', 'w')",
    "reaches a server": "socket.create_connection(('127.0.0.1', {port}), 1)",
    "opens a socket of the virtual machine": "socket.socket(40, socket.SOCK_STREAM)",
    "opens a socket of this machine": "socket.socketpair()",
    "starts a process": "os.fork()",
    "starts a program": "__import__('subprocess').run([sys.executable, '-V'])",
    "starts a thread": "__import__('_thread').start_new_thread(print, ())",
    "ends other processes": "os.kill(-1, 9)",
    "makes namespaces": "__import__('ctypes').CDLL(None, use_errno=True).unshare(0x10000000) and 1 / 0",
    "looks into a process": "__import__('ctypes').CDLL(None, use_errno=True).ptrace(0, 0, 0, 0) and 1 / 0",
    "raises its limits": "__import__('resource').setrlimit(0, (100, 100))",
}


@pytest.mark.parametrize("attack", LEAKS.values(), ids=LEAKS)
def test_a_hostile_program_does_not_get_out(attack, listener):
    attack = attack.format(port=listener, here=__file__)

    outcome = step(f"try:\n    leak = {attack}\nexcept Exception as error:\n    ask('held')\nask('leaked')")

    assert outcome.question[0]["content"] == "held"


def test_it_sees_no_key_and_no_variable(monkeypatch):
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-secret")

    names = step("return ask(str(sorted(os.environ)))").question[0]["content"]

    assert names == "['LC_CTYPE', 'PWD', 'PYTHONHASHSEED']"


@pytest.mark.parametrize(
    "body",
    [
        "while True: pass",
        "while True: os.write(1, b'x' * 100_000)",
        "os.ftruncate(1, 0); os.write(2, b'bwrap: no permission'); os._exit(1)",
        "os.write(1, b'[' * 100_000); os._exit(0)",
        "import ctypes; ctypes.string_at(0)",
    ],
    ids=["endless loop", "endless output", "pretends that the sandbox failed", "nests without end", "crashes"],
)
def test_a_program_that_passes_a_limit_is_ended_alone(body):
    assert "It was ended: a step may take 1 seconds" in step(body).error


def test_memory_has_a_limit():
    assert "MemoryError" in step("hoard = [bytearray(10_000_000) for _ in range(1000)]").error


def test_a_program_that_sleeps_is_ended_by_the_clock():
    outcome = step("time.sleep(60)", limits=Limits(patience=0.5))

    assert "It was ended" in outcome.error


def test_this_machine_can_isolate():
    assert why_not() == ""


def test_a_machine_without_bubblewrap_says_what_to_install(monkeypatch):
    why_not.cache_clear()
    monkeypatch.setattr(isolation, "TOOL", "no-such-tool")

    assert why_not() == "Python programs need bubblewrap, which isolates them: apt-get install bubblewrap."
    why_not.cache_clear()


def test_a_machine_that_forbids_namespaces_says_so(monkeypatch, tmp_path):
    why_not.cache_clear()
    tool = tmp_path / "bwrap"
    tool.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    assert "cannot isolate a program here: bwrap: No permissions to create new namespace" in why_not()
    why_not.cache_clear()


def test_another_machine_says_where_programs_run(monkeypatch):
    why_not.cache_clear()
    monkeypatch.setattr(isolation.platform, "machine", lambda: "riscv64")

    assert "only on Linux, on x86-64 or ARM 64" in why_not()
    why_not.cache_clear()
