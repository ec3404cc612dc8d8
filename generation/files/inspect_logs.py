"""Logs of inspect_ai as answers: an `.eval` file, or its JSON form. Each sample of each epoch is one answer."""

from __future__ import annotations

import os
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchsite.lib.file_errors import BadLine, unreadable
from benchsite.lib.files import BROKEN_ZIP
from benchsite.lib.json_lines import JsonError, json_type, read_json
from generation.files.sample_lines import MOST_ATTEMPTS, NO_MODEL_NAME, SampleLine, SampleRow, is_model_name, read_file

SUFFIXES = (".eval", ".json")
LARGEST = 1 << 27  # bytes of a log, unpacked
LARGEST_OBJECT = 1 << 25  # bytes of JSON that are objects at once, which take up to 24 times as many
ZSTANDARD, ENCRYPTED, LOCAL_HEADER = (
    93,
    1,
    30,
)  # the zip format's numbers: a way of packing, a flag, bytes before a name
SAMPLE = re.compile(r"samples/.+\.json")
STOPS = {"max_tokens": "length", "model_length": "length"}


def is_log(path: Path) -> bool:
    return path.suffix.lower() in SUFFIXES


def read_log(path: Path) -> tuple[list[SampleLine], list[BadLine]]:
    """Every sample that can be imported, and every one that cannot; a log that is none raises BadLine."""
    samples: Iterable[Any]
    model, samples = _zipped(path) if path.suffix.lower() == ".eval" else _plain(path)
    if not isinstance(model, str) or not is_model_name(model):
        raise BadLine(path.name, 0, "eval.model", NO_MODEL_NAME)
    lines: list[SampleLine] = []
    bad: list[BadLine] = []
    for number, sample in enumerate(samples, start=1):
        try:
            lines.append(_line(sample, model, path.name, number))
        except BadLine as error:
            bad.append(error)
    if not lines and not bad:
        bad.append(BadLine(path.name, 0, "samples", "is empty"))
    return lines, bad


def read_answers(path: Path) -> Iterator[SampleRow]:
    """The rows of a file of answers or of a log, as they are analysed without a database; raises BadLine at the first bad one."""
    if not is_log(path):
        yield from read_file(path)
        return
    lines, bad = read_log(path)
    if bad:
        raise bad[0]
    for line in lines:
        fields = {"model_id": line.model_id, "prompt_text": line.prompt_text, "attempt_number": line.attempt}
        fields |= {"raw_output": line.text, "finish_reason": line.finish_reason}
        yield SampleRow(path.name, line.number, fields)


def _plain(path: Path) -> tuple[Any, list[Any]]:
    try:
        if path.stat().st_size > LARGEST_OBJECT:
            way = "convert it by `inspect log convert --to eval`"
            raise BadLine(path.name, 0, "", f"is over {LARGEST_OBJECT} bytes; {way}")
        log = _object(path.read_bytes(), path.name, "")
    except OSError as error:
        raise unreadable(path.name, error) from None
    about, samples = log.get("eval"), log.get("samples")
    if not isinstance(about, dict):
        raise BadLine(path.name, 0, "eval", "is missing, so this is no log of inspect_ai")
    return about.get("model"), samples if isinstance(samples, list) else []


def _zipped(path: Path) -> tuple[Any, Iterator[Any]]:
    with _opened(path) as archive:
        whole = sum(info.file_size for info in archive.infolist())
        if whole > LARGEST:
            raise BadLine(path.name, 0, "", f"would unpack to {whole} bytes, over {LARGEST}; split the log")
        for info in archive.infolist():
            if info.file_size > LARGEST_OBJECT:
                raise BadLine(path.name, 0, info.filename[:100], f"would unpack to over {LARGEST_OBJECT} bytes")
        names = archive.namelist()
        if "header.json" not in names:
            raise BadLine(path.name, 0, "header.json", "is missing, so this is no finished log of inspect_ai")
        about = _object(_member(archive, "header.json"), path.name, "header.json").get("eval")
    samples = sorted(name for name in names if SAMPLE.fullmatch(name))
    return about.get("model") if isinstance(about, dict) else None, _samples(path, samples)


def _samples(path: Path, names: list[str]) -> Iterator[Any]:
    """One at a time: of each only its prompt and answer are kept."""
    with _opened(path) as archive:
        for name in names:
            yield _object(_member(archive, name), path.name, name)


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    """A file of the zip, perhaps packed with Zstandard as inspect_ai does, which `zipfile` reads from Python 3.14 on."""
    info = archive.getinfo(name)
    if info.compress_type != ZSTANDARD or info.flag_bits & ENCRYPTED:
        return archive.read(info)
    import pyarrow as pa

    with Path(str(archive.filename)).open("rb") as stream:
        stream.seek(info.header_offset)
        header = stream.read(LOCAL_HEADER)
        name_and_extra = header[26:28], header[28:30]
        stream.seek(sum(int.from_bytes(length, "little") for length in name_and_extra), os.SEEK_CUR)
        packed = stream.read(info.compress_size)
    with pa.CompressedInputStream(pa.BufferReader(packed), "zstd") as unpacked:
        data: bytes = unpacked.read(info.file_size + 1)
    if len(data) != info.file_size or zlib.crc32(data) != info.CRC:
        raise zipfile.BadZipFile(name)
    return data


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except BadLine:
        raise
    except BROKEN_ZIP as error:
        way = "; convert it by `inspect log convert --to json`" if isinstance(error, NotImplementedError) else ""
        raise BadLine(path.name, 0, "", f"is not a zip that can be read{way}") from None


def _object(data: bytes, file: str, name: str) -> dict[str, Any]:
    try:
        value = read_json(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise BadLine(file, 0, name, "is not UTF-8") from None
    except JsonError as error:
        raise BadLine(file, 0, name, str(error)) from None
    if not isinstance(value, dict):
        raise BadLine(file, 0, name, f"is {json_type(value)}, not a JSON object")
    return value


def _line(sample: Any, model: str, file: str, number: int) -> SampleLine:
    def bad(field: str, problem: str) -> BadLine:
        return BadLine(file, number, field, problem)

    if not isinstance(sample, dict):
        raise bad("the sample", f"is {json_type(sample)}, not a JSON object")
    prompt, epoch = _words(sample.get("input")), sample.get("epoch")
    if prompt is None:
        raise bad("input", "is neither text nor a list of messages with one of the user's")
    if not isinstance(epoch, int) or isinstance(epoch, bool) or not 1 <= epoch <= MOST_ATTEMPTS:
        raise bad("epoch", f"is not a whole number from 1 to {MOST_ATTEMPTS}")
    output = sample.get("output")
    choices = output.get("choices") if isinstance(output, dict) else None
    if not isinstance(output, dict) or not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise bad("output", "has no answer; the sample may have failed")
    message, stop = choices[0].get("message"), choices[0].get("stop_reason")
    text = _content(message.get("content")) if isinstance(message, dict) else None
    if text is None:
        raise bad("output", "has an answer that is no text")
    usage = output.get("usage")
    tokens = usage.get("output_tokens") if isinstance(usage, dict) else None
    known = isinstance(tokens, int) and not isinstance(tokens, bool) and 0 <= tokens <= 10**9
    return SampleLine(
        number=number,
        model_id=model,
        prompt_text=prompt,
        attempt=epoch,
        text=text,
        finish_reason=STOPS.get(stop, stop)[:40] if isinstance(stop, str) else "",
        completion_tokens=tokens if known else None,
        source=file,
        made="drawn by inspect_ai",
    )


def _words(given: Any) -> str | None:
    """What was asked: text, or the last message of the user."""
    if isinstance(given, str):
        return given
    asked: Iterator[Any] = (
        (m for m in given if isinstance(m, dict) and m.get("role") == "user") if isinstance(given, list) else iter(())
    )
    last = next(reversed(list(asked)), None)
    return _content(last.get("content")) if last else None


def _content(content: Any) -> str | None:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    parts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
    return "\n".join(part for part in parts if isinstance(part, str)) if parts else None
