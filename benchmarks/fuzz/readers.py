"""What the fuzz bench reads first: extractors and the suite loader; and how a reader and its inputs are described."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from benchsite.lib.text import clean_text
from generation.formats import format_names, get_format
from generation.formats.base import Answer, Extraction
from generation.suites.loading import load_suite
from generation.suites.suite import Suite
from generation.suites.yaml_source import SuiteError

HOSTILE = Path(__file__).resolve().parents[2] / "tests" / "hostile"
FOLDER = Path(tempfile.mkdtemp(prefix="benchsite-fuzz-"))
ANY = st.text(alphabet=st.characters(codec=None, categories=None), max_size=200)
# Text that no database can hold as JSON spells it; and now and then, as they take long, more brackets than any reader follows.
SPELLED = (*("\\u0000", "\\ud800") * 8, "[" * 5000)
PATCH = st.sampled_from(SPELLED) | st.text(
    st.sampled_from("ab0 \n\t-:[]{}&*!|>'\"%@`#,?<~\\./=") | st.characters(codec=None), max_size=12
)
YAML = ("- a\n", "a: {", "[", "&a ", "*a ", "'", "- &a [*a]\n", " ", "# x\n")
FENCES = ("```", "```\n", "\n```\n", "~~~\n", "`", "<think>", "</think>", "\n", " " * 9, "\0", "\ud800", "‮", "\x1b[31m")

# Repeated, these have made readers quadratic; each opening is also nested with its closing.
DELIMITERS = (
    *(
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        '"',
        "'",
        "\\",
        "/*",
        "*/",
        "<",
        ">",
        "&lt;",
        "<!--",
        "-->",
        "&",
        "#",
        "@",
        ",",
        ":",
    ),
    *(";", ".", "-", "1", "a", " ", "\n", "a(", ":a(", "a{", "a{}", "a[b=", "url(", "url( ", "a:b;", "1s,", "\u0301"),
    *("\u200d", "👨\u200d", "<g>", "<text>", "<think>", "</think>", "@media a{", "@keyframes k{a{b:c}}"),
)
NESTED = (("(", ")"), ("[", "]"), ("{", "}"), ("a(", ")"), (":a(", ")"), ("a{", "}"), ("<g>", "</g>"), ('["', '"]'))

# Of files: alone, as a value and inside text of JSON, in a cell of a table, as a value of YAML after the byte that says which file.
PLACES = ("%s", '{"a": %s}\n', '{"a": "%s"}\n', 'a,b\n"%s",1\n', "\0a: %s\n", "\0a: '%s'\n")


@dataclass(frozen=True)
class Reader:
    """`read` never raises; `check` reads, asserts what must hold, and says whether the input was accepted."""

    name: str
    inputs: st.SearchStrategy[bytes]
    read: Callable[[bytes], Any]
    check: Callable[[bytes], bool]
    patterns: Sequence[str]
    places: Sequence[str] = PLACES  # where a repeated pattern is put


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def pieces(*fragments: str) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from([*FENCES, *fragments]) | st.text(max_size=5), max_size=25).map("".join)


def damaged(texts: Sequence[bytes]) -> st.SearchStrategy[bytes]:
    """One of the texts with a stretch cut out and a patch put in."""
    return st.builds(
        lambda text, start, length, patch: (
            text[: (at := start % (len(text) + 1))] + encoded(patch) + text[at + length :]
        ),
        st.sampled_from(texts),
        st.integers(0, 900),
        st.integers(0, 30),
        PATCH,
    )


def corpus(*kinds: str) -> list[bytes]:
    """The hostile corpus, without its largest files: those have tests of their own."""
    paths = [path for kind in kinds for path in sorted((HOSTILE / kind).iterdir())]
    return [path.read_bytes() for path in paths if path.stat().st_size <= 4096]


@dataclass(frozen=True)
class Hints:
    """What makes fuzzing a format worth more: hostile files of its kind, pieces of its answers, and `shape`, which wraps
    a drawing the way a model would give it back, where a drawing reads as itself; `places` are where delimiters are repeated."""

    kinds: tuple[str, ...] = ()
    fragments: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    shape: Callable[[str], str] | None = None


def extractor(name: str, hints: Hints) -> Reader:
    form, shape = get_format(name), hints.shape
    fragments = hints.fragments or tuple(re.findall(r"\S+\s*", form.example))

    def read(raw: bytes) -> Extraction:
        text = clean_text(raw.decode("utf-8", "replace"))[0]
        return form.extract(Answer(text, prompt_facts={"target": "A"}))

    def check(raw: bytes) -> bool:
        extraction = read(raw)
        json.dumps(dict(extraction.facts))
        assert extraction.valid or extraction.reason, "neither a drawing nor a reason"
        if extraction.drawing is not None:
            assert clean_text(extraction.drawing) == (extraction.drawing, ()), "the drawing is not clean text"
            again = read(encoded(shape(extraction.drawing))) if shape else extraction
            assert again.drawing == extraction.drawing, "the drawing does not read as itself"
        return extraction.valid

    wrapped = pieces(*fragments).map(shape or str)
    inputs = damaged([encoded(form.example), *corpus(*hints.kinds)]) | (pieces(*fragments) | ANY | wrapped).map(encoded)
    return Reader(name, inputs, read, check, [*FENCES[:8], *fragments], ("%s", "```\n%s\n```", *hints.places))


def fenced(drawing: str) -> str:
    return f"~~~~~~~~\n{drawing}\n~~~~~~~~"


def backticked(drawing: str) -> str:
    return f"```\n{drawing}\n```"


def suite_loader() -> Reader:
    from tests.generation.suites.suite_files import FILES, write_suite

    folder = write_suite(FOLDER)
    names = sorted(FILES)

    def read(raw: bytes) -> Any:
        """The first byte says which file is replaced."""
        name = names[raw[0] % len(names)] if raw else names[0]
        path = folder / name
        path.write_bytes(raw[1:])
        try:
            return load_suite(folder)
        except SuiteError as error:
            assert error.line >= 1 and error.message, str(error)
            return None
        finally:
            path.write_text(FILES[name])

    def check(raw: bytes) -> bool:
        suite = read(raw)
        if suite is not None:
            assert Suite.from_dict(json.loads(json.dumps(suite.to_dict()))) == suite, "a suite does not read as itself"
        return suite is not None

    own = [bytes([at]) + FILES[name].encode() for at, name in enumerate(names)]
    other = [bytes([at]) + text for at in range(len(names)) for text in corpus("yaml")]
    inputs = (
        damaged(own) | damaged(other) | st.builds(lambda at, text: bytes([at]) + encoded(text), st.integers(0, 9), ANY)
    )
    return Reader("suite loader", inputs, read, check, YAML)


HINTS = {
    "ascii_art": Hints(("ascii",), ("/\\_/\\\n", "한글", "\u0301", "👨\u200d👩", "I am GPT"), shape=fenced),
    "svg": Hints(
        ("svg",),
        (
            *("<svg>", "</svg>", "<g>", "</g>", "<circle r='1'/>", "<use href='#a'/>", "<style>", "{", "<!--", "&"),
            "<![CDATA[",
        ),
        (
            *("<svg>%s</svg>", "<svg><text>%s</text></svg>", "<svg><rect style='fill:%s'/></svg>"),
            *("<svg><style>%s</style></svg>", "<svg><style>a{b:%s}</style></svg>", "<svg><path d='M%s'/></svg>"),
            *("<svg><rect fill='url(%s #'/></svg>", "<svg><animate dur='1%sx' values='%s'/></svg>"),
        ),
        str,
    ),
    "pixel_art": Hints(
        ("json",),
        ('{"grid":', "[[0,1],[1,0]]", ',"palette":["red"]}', "[", "{", '"', "1,"),
        ('{"grid": %s}', '{"grid": "%s"}'),
        str,
    ),
    "science_birds": Hints(
        ("code",),
        ("drop_block('b11', 3)\n", "drop_block(", "'b31'", ",", "(", ")", "#"),
        ("```\ndrop_block(%s)\n```",),
        backticked,
    ),
}
EXTRACTORS = (*(extractor(name, HINTS.get(name, Hints())) for name in format_names()), suite_loader())


def assert_storable(texts: Iterable[str]) -> None:
    odd = [text for text in texts if clean_text(text)[0] != text]
    assert not odd, f"no database can hold {odd[0]!r}"


def refuses(
    name: str,
    error: type[Exception],
    load: Callable[[Path], Any],
    texts: Sequence[bytes],
    patterns: Sequence[str] = ('{"a":', "[", "{}\n", '"', ",", "\n"),
    holds: Callable[[Any], None] = lambda value: None,
) -> Reader:
    """A reader of one file that either reads it, twice alike, or raises its own error, with a sentence.

    `holds` asserts what must be true of everything that was read.
    """
    path = FOLDER / name

    def read(raw: bytes) -> Any:
        path.write_bytes(raw)
        try:
            return load(path)
        except error as refused:
            assert str(refused), "refused without a word"
            return None

    def check(raw: bytes) -> bool:
        value = read(raw)
        assert repr(value) == repr(read(raw)), "the same file reads otherwise the second time"
        if value is not None:
            holds(value)
        return value is not None

    return Reader(name, damaged(texts) | ANY.map(encoded), read, check, patterns)
