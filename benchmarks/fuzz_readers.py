"""What the fuzz bench reads: for each reader its inputs, how it is called, and what must hold of the result."""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from generation.config import SuiteError, load_suite
from generation.formats import get_format
from generation.formats.base import Answer, Format
from generation.import_lines import read_lines as read_sample_lines
from generation.suite import Suite
from generation.text import clean_text
from ranking.vote_files import VoteFileError, read_votes

HOSTILE = Path(__file__).resolve().parent.parent / "tests" / "hostile"
FOLDER = Path(tempfile.mkdtemp(prefix="benchsite-fuzz-"))
ANY = st.text(alphabet=st.characters(codec=None, categories=None), max_size=200)
PATCH = st.text(st.sampled_from("ab0 \n\t-:[]{}&*!|>'\"%@`#,?<~\\./=") | st.characters(codec=None), max_size=12)
FENCES = ("```", "```\n", "\n```\n", "~~~\n", "`", "<think>", "</think>", "\n", " " * 9, "\0", "\ud800", "‮", "\x1b[31m")


@dataclass(frozen=True)
class Reader:
    """`read` never raises; `check` reads, asserts what must hold, and says whether the input was accepted."""

    name: str
    inputs: st.SearchStrategy[bytes]
    read: Callable[[bytes], Any]
    check: Callable[[bytes], bool]
    patterns: Sequence[str]


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def pieces(*fragments: str) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from([*FENCES, *fragments]) | st.text(max_size=5), max_size=25).map("".join)


def damaged(texts: Sequence[bytes]) -> st.SearchStrategy[bytes]:
    """One of the texts with a stretch cut out and a patch put in."""
    return st.builds(
        lambda text, start, length, patch: text[:start] + encoded(patch) + text[start + length :],
        st.sampled_from(texts),
        st.integers(0, 900),
        st.integers(0, 30),
        PATCH,
    )


def corpus(*kinds: str) -> list[bytes]:
    """The hostile corpus, without its largest files: those have tests of their own."""
    found = [path for kind in kinds for path in sorted((HOSTILE / kind).iterdir())]
    return [path.read_bytes() for path in found if path.stat().st_size <= 4096]


def extractor(name: str, kinds: tuple[str, ...], fragments: tuple[str, ...], shape: Callable[[str], str]) -> Reader:
    """`shape` wraps a drawing the way a model would give it back."""
    found: Format = get_format(name)

    def read(raw: bytes) -> Any:
        text = clean_text(raw.decode("utf-8", "replace"))[0]
        return found.extract(Answer(text, prompt_facts={"target": "A"}))

    def check(raw: bytes) -> bool:
        extraction = read(raw)
        json.dumps(dict(extraction.facts))
        assert extraction.valid or extraction.reason, "neither a drawing nor a reason"
        if extraction.valid:
            assert clean_text(extraction.drawing) == (extraction.drawing, ()), "the drawing is not clean text"
            again = read(encoded(shape(extraction.drawing)))
            assert again.drawing == extraction.drawing, "the drawing does not read as itself"
        return extraction.valid

    inputs = damaged(corpus(*kinds)) | (pieces(*fragments) | ANY | pieces(*fragments).map(shape)).map(encoded)
    return Reader(name, inputs, read, check, [*FENCES[:8], *fragments])


def fenced(drawing: str) -> str:
    return f"~~~~~~~~\n{drawing}\n~~~~~~~~"


def backticked(drawing: str) -> str:
    return f"```\n{drawing}\n```"


def sample_lines() -> Reader:
    good = {"model_id": "a/b", "prompt_text": "Draw a cat", "attempt_number": 1, "raw_output": "```\n/\\\n```"}
    more = {**good, "category": "c", "finish_reason": "stop", "completion_tokens": 3, "program": "p"}
    texts = [encoded("\n".join(json.dumps(line) for line in (good, more))), *corpus("json")]

    def read(raw: bytes) -> Any:
        return read_sample_lines(io.BytesIO(raw), "file")

    def check(raw: bytes) -> bool:
        lines, bad = read(raw)
        assert all(str(line) for line in bad)
        rows = [
            {**asdict(line), "attempt_number": line.attempt, "raw_output": line.text, "program": line.program}
            for line in lines
        ]
        again, worse = read_sample_lines(io.BytesIO(b"".join(json.dumps(row).encode() + b"\n" for row in rows)), "file")
        kept = [{**asdict(line), "number": 0} for line in again]
        assert not (rows and worse), "what was read is refused"
        assert kept == [{**asdict(line), "number": 0} for line in lines], "a line does not read as itself"
        return bool(lines)

    inputs = damaged(texts) | (ANY | pieces('{"a":', "[", "]", "}", '"', "1e999", "NaN")).map(encoded)
    return Reader("sample lines", inputs, read, check, ['{"a":', "[", "{}\n", '"', "\\u0000", "9"])


def votes() -> list[bytes]:
    good = {"left_model": "a", "right_model": "b", "outcome": "left"}
    full = {**good, "judge": "j", "prompt_text": "p", "category": "c", "left_attempt": 1, "right_attempt": 2}
    full |= {"voted_at": "2026-05-01T12:00:00+00:00", "response_ms": 900, "kind": "shared", "withdrawn": False}
    early = {**full, "voted_at": "0001-01-01T00:00:00+14:00"}
    return [encoded("\n".join(json.dumps(line) for line in lines)) for lines in ((good, full), (full, full), (early,))]


def vote_importer() -> Reader:
    """The database's importer up to the rows it would store."""
    import django
    from django.conf import settings

    if not settings.configured:
        settings.configure(
            USE_TZ=True,
            INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "generation", "judging"],
        )
        django.setup()
    from judging.imports import ImportRefusedError, read_lines

    path = FOLDER / "votes.jsonl"

    def read(raw: bytes) -> Any:
        path.write_bytes(raw)
        try:
            return read_lines(path)
        except ImportRefusedError as refused:
            assert str(refused)
            return None

    def check(raw: bytes) -> bool:
        lines = read(raw)
        if lines is None:
            return False
        for line in lines:
            if line.voted_at is not None:
                line.voted_at.astimezone(UTC)  # as databases do
        rows = [{**asdict(line), "voted_at": line.voted_at and line.voted_at.isoformat()} for line in lines]
        assert read(b"".join(json.dumps(row).encode() + b"\n" for row in rows)) == lines, (
            "a vote does not read as itself"
        )
        return True

    return Reader("vote importer", damaged(votes()) | ANY.map(encoded), read, check, ['{"a":', "[", "{}\n", '"'])


def vote_files() -> Reader:
    """`analyse`'s reader, as JSON Lines and as CSV."""
    table = b"left_model,right_model,outcome,judge\na,b,left,j\nb,c,tie,k\n"

    def read(raw: bytes) -> Any:
        found = []
        for name in ("votes.jsonl", "votes.csv"):
            path = FOLDER / name
            path.write_bytes(raw)
            try:
                found.append(read_votes(path, skip_bad=True).votes)
            except VoteFileError as error:
                assert str(error)
        return found

    def check(raw: bytes) -> bool:
        return any(len(found) for found in read(raw))

    inputs = damaged([*votes(), table]) | ANY.map(encoded)
    return Reader("vote files", inputs, read, check, ['{"a":', "[", "{}\n", '"', ",", "\n", "a,b,left\n"])


def suite_loader() -> Reader:
    from tests.generation.suite_files import FILES, write_suite

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
    return Reader(
        "suite loader", inputs, read, check, ["- a\n", "a: {", "[", "&a ", "*a ", "'", "- &a [*a]\n", " ", "# x\n"]
    )


READERS = (
    extractor("ascii_art", ("ascii",), ("/\\_/\\\n", "한글", "\u0301", "👨\u200d👩", "I am GPT"), fenced),
    extractor(
        "svg",
        ("svg",),
        (
            "<svg>",
            "</svg>",
            "<g>",
            "</g>",
            "<circle r='1'/>",
            "<use href='#a'/>",
            "<style>",
            "{",
            "<!--",
            "&",
            "<![CDATA[",
        ),
        str,
    ),
    extractor("pixel_art", ("json",), ('{"grid":', "[[0,1],[1,0]]", ',"palette":["red"]}', "[", "{", '"', "1,"), str),
    extractor(
        "science_birds", ("code",), ("drop_block('b11', 3)\n", "drop_block(", "'b31'", ",", "(", ")", "#"), backticked
    ),
    suite_loader(),
    sample_lines(),
    vote_importer(),
    vote_files(),
)
