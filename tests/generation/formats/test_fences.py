"""The scanner against CommonMark's own examples, against prose, and against time."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.formats.fences import fenced_blocks, json_objects, strip_reasoning

# Section 4.5 of the CommonMark specification 0.31, top-level examples: text, then (info, content, closed) of each block.
COMMONMARK = [
    ("```\n<\n >\n```", [("", "<\n >", True)]),
    ("~~~\n<\n >\n~~~", [("", "<\n >", True)]),
    ("``\nfoo\n``", []),
    ("```\naaa\n~~~\n```", [("", "aaa\n~~~", True)]),
    ("~~~\naaa\n```\n~~~", [("", "aaa\n```", True)]),
    ("````\naaa\n```\n``````", [("", "aaa\n```", True)]),
    ("~~~~\naaa\n~~~\n~~~~", [("", "aaa\n~~~", True)]),
    ("```", [("", "", False)]),
    ("`````\n\n```\naaa", [("", "\n```\naaa", False)]),
    ("```\n\n  \n```", [("", "\n  ", True)]),
    ("```\n```", [("", "", True)]),
    (" ```\n aaa\naaa\n```", [("", "aaa\naaa", True)]),
    ("  ```\naaa\n  aaa\naaa\n  ```", [("", "aaa\naaa\naaa", True)]),
    ("   ```\n   aaa\n    aaa\n  aaa\n   ```", [("", "aaa\n aaa\naaa", True)]),
    ("    ```\n    aaa\n    ```", []),
    ("```\naaa\n  ```", [("", "aaa", True)]),
    ("   ```\naaa\n  ```", [("", "aaa", True)]),
    ("```\naaa\n    ```", [("", "aaa\n    ```", False)]),
    ("``` ```\naaa", []),
    ("~~~~~~\naaa\n~~~ ~~", [("", "aaa\n~~~ ~~", False)]),
    ("foo\n```\nbar\n```\nbaz", [("", "bar", True)]),
    ("foo\n---\n~~~\nbar\n~~~\n# baz", [("", "bar", True)]),
    ("```ruby\ndef foo(x)\n  return 3\nend\n```", [("ruby", "def foo(x)\n  return 3\nend", True)]),
    ("~~~~    ruby startline=3 $%@#$\ndef\n~~~~~~~", [("ruby startline=3 $%@#$", "def", True)]),
    ("````;\n````", [(";", "", True)]),
    ("``` aa ```\nfoo", []),
    ("~~~ aa ``` ~~~\nfoo\n~~~", [("aa ``` ~~~", "foo", True)]),
    ("```\n``` aaa\n```", [("", "``` aaa", True)]),
]


@pytest.mark.parametrize(("text", "expected"), COMMONMARK)
def test_fenced_blocks_pair_as_commonmark_says(text, expected):
    assert [(block.info, block.content, block.closed) for block in fenced_blocks(text)] == expected


def test_fenced_blocks_with_crlf_and_cr_become_lf():
    assert fenced_blocks("```\r\n a\r b\r\n```\r\n")[0].content == " a\n b"


def test_fenced_blocks_keep_tabs_and_other_separators():
    assert fenced_blocks("```\n\ta\u2028b\x0cc\n```")[0].content == "\ta\u2028b\x0cc"


def test_fenced_blocks_after_a_language_block_do_not_take_the_prose_between():
    blocks = fenced_blocks("```python\nprint()\n```\nprose\n```\nart\n```")

    assert [block.content for block in blocks] == ["print()", "art"]


@pytest.mark.parametrize(
    ("text", "left", "found"),
    [
        ("no tags", "no tags", False),
        ("<think>a\nb</think>c", "c", True),
        ("<THINK>\na\n</Think>\nc", "\nc", True),
        ("draft\n```\nx\n```\n</think>\nc", "\nc", True),
        ("c\n<think>never ends", "c", True),
        ("```\n<think>\n```\nin art", "```\n<think>\n```\nin art", False),
        ("<think>a</think><think>b</think>c", "c", True),
        ("a bird that says <think>", "a bird that says <think>", False),
    ],
)
def test_strip_reasoning(text, left, found):
    assert strip_reasoning(text) == (left, found)


@pytest.mark.parametrize(
    ("text", "objects"),
    [
        ('x {"a": {"b": 1}} y {"c": 2}', ['{"a": {"b": 1}}', '{"c": 2}']),
        ('{"a": "}{"}', ['{"a": "}{"}']),
        (r'{"a": "\"}"}', [r'{"a": "\"}"}']),
        ('use { like this:\n{"a": 1}', ['{"a": 1}']),
        ('a 5" brush {here}\n{"a": 1}', ["{here}", '{"a": 1}']),
        ("} } {", []),
        ('{"a": 1', []),
    ],
)
def test_json_objects(text, objects):
    assert json_objects(text) == objects


HEAVY = {
    "openings": lambda n: "```a\n" * n,
    "indents": lambda n: "```\n" + " " * n + "\n" * n,
    "braces": lambda n: "{" * n,
    "braces and quotes": lambda n: '{"' * n,
    "escapes": lambda n: '{"' + '\\"' * n,
    "tags": lambda n: "<think>" * n,
    "closing tags": lambda n: "</think>" * n,
    "alternating tags": lambda n: "<think></think>" * n,
}


def _seconds(text: str) -> float:
    def once() -> float:
        start = time.process_time()
        fenced_blocks(text)
        strip_reasoning(text)
        json_objects(text)
        return time.process_time() - start

    return min(once() for _ in range(3))


@pytest.mark.parametrize("shape", HEAVY)
def test_scanners_take_linear_time(shape):
    small, large = _seconds(HEAVY[shape](5_000)), _seconds(HEAVY[shape](40_000))

    # Eight times the text: linear is 8, quadratic 64.
    assert large < 24 * small + 0.01


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet='`~ \n\r\t{}"\\<>/thinkax', max_size=200))
def test_scanners_never_raise_and_leave_only_the_last_block_open(text):
    strip_reasoning(text)
    assert all(piece.startswith("{") and piece.endswith("}") for piece in json_objects(text))
    assert all(block.closed for block in fenced_blocks(text)[:-1])
