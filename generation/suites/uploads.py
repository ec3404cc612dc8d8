"""A suite that a curator sends instead of a folder on the server: read by the same loader, then sealed until it is started.

- Providers, their addresses and their keys stay the server's: a suite can only name one of them.
- Nothing is kept: the page that shows what a run may cost carries the suite, signed for that curator.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.core import signing
from django.core.files.uploadedfile import UploadedFile

from benchsite.lib.files import BROKEN_ZIP, kept
from generation.images import FILE, SUFFIXES
from generation.images import LARGEST as LARGEST_IMAGE
from generation.suites.loading import FILES, SLUG, load_suite, read_models
from generation.suites.profiles import load_profiles
from generation.suites.suite import ModelEntry, Suite
from generation.suites.yaml_fields import nearest
from generation.suites.yaml_source import MAX_BYTES, Node, SuiteError, load_yaml

PROVIDERS = "providers.yaml"
LARGEST_SUITE = 1_500_000  # characters of JSON; sealed, it still fits into a form
MOST_IMAGES = 200
SEALED_FOR = 24 * 3600  # seconds
# What shapes an answer. Others could make a call cost more than its bound (plugins, tools, n) or be answered elsewhere (models).
PARAMETERS: tuple[str, ...] = (
    "frequency_penalty",
    "logit_bias",
    "max_completion_tokens",
    "max_tokens",
    "min_p",
    "presence_penalty",
)
PARAMETERS += ("reasoning", "reasoning_effort", "repetition_penalty", "response_format", "seed", "stop", "temperature")
PARAMETERS += ("think", "top_a", "top_k", "top_p", "verbosity")


def read_suite(files: Sequence[UploadedFile[Any]], *, name: str) -> Suite:
    """The suite in these files, or in the one zip of them, whole or not at all; raises SuiteError."""
    if not SLUG.fullmatch(name):  # it names a folder for a moment
        hint = "use lower-case letters, digits and dashes, at most 50"
        raise SuiteError("", 0, "name", f"{name[:60]!r} is not a suite's name", hint, "bad_identifier")
    bodies = _from_zip(files[0]) if len(files) == 1 and _is_zip(files[0]) else _from_files(files)
    with TemporaryDirectory() as root:
        folder = Path(root) / name
        folder.mkdir()
        for file, body in bodies.items():
            (folder / file).write_bytes(body)
        try:
            suite = load_suite(folder, providers=settings.SUITES_DIR / PROVIDERS)
            models = load_yaml(folder / "models.yaml").value["models"].value
            _check_parameters([load_yaml(folder / "config.yaml").value["generation"], *models])
        except SuiteError as error:
            error.file = PurePosixPath(error.file).name  # without the folder that it was in for a moment
            if error.reason == "missing_file":
                error.hint = "send it with the others"
            raise
    return suite


def read_more_models(file: UploadedFile[Any], *, most_tokens: int) -> tuple[ModelEntry, ...]:
    """The models of a models.yaml, for a run that is there already; raises SuiteError."""
    providers = tuple(load_profiles(settings.SUITES_DIR / PROVIDERS, environ={}))
    with kept(file) as path:
        try:
            models = read_models(path, providers=providers, most_tokens=most_tokens)
            _check_parameters(load_yaml(path).value["models"].value)
        except SuiteError as error:
            error.file = path.name
            raise
    return models


def _is_zip(file: UploadedFile[Any]) -> bool:
    return (file.name or "").lower().endswith(".zip")


def _from_files(files: Sequence[UploadedFile[Any]]) -> dict[str, bytes]:
    return _named((file.name or "", file.read(max(MAX_BYTES, LARGEST_IMAGE) + 1)) for file in files)


def _from_zip(file: UploadedFile[Any]) -> dict[str, bytes]:
    """The YAML and the pictures of a zip, in a folder or not; other files, such as a README, are left alone."""
    try:
        with zipfile.ZipFile(file) as archive:
            members = [info for info in archive.infolist() if not info.filename.startswith("__MACOSX/")]
            yaml = [info for info in members if info.filename.endswith((".yaml", ".yml"))][: len(FILES) + 1]
            members = yaml + [info for info in members if info.filename.lower().endswith(SUFFIXES)][:MOST_IMAGES]
            files = [(PurePosixPath(info.filename).name, _start_of(archive, info)) for info in members]
    except BROKEN_ZIP:
        problem = "this is not a whole zip without a password"
        raise SuiteError(file.name or "", 0, "", problem, "it may be cut short; make it again", "bad_zip") from None
    return _named(files)


def _start_of(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    with archive.open(info) as member:
        return member.read(max(MAX_BYTES, LARGEST_IMAGE) + 1)  # enough for the loader to refuse it


def _named(files: Iterable[tuple[str, bytes]]) -> dict[str, bytes]:
    by_name: dict[str, bytes] = {}
    for name, body in files:
        if name == PROVIDERS:
            hint = "leave it out; providers and their keys are the server's, and a suite names one of them"
            raise SuiteError(name, 0, "", "providers are not uploaded", hint, "unknown_file")
        if name not in FILES and not (FILE.fullmatch(name) and name.lower().endswith(SUFFIXES)):
            raise SuiteError(name[:60], 0, "", "a suite has no such file", nearest(name, FILES), "unknown_file")
        if name in by_name:
            raise SuiteError(name, 0, "", "this file is there twice", "send one suite", "duplicate_file")
        by_name[name] = body
    return by_name


def _check_parameters(blocks: Iterable[Node]) -> None:
    for block in blocks:
        given = block.value.get("parameters") if isinstance(block.value, dict) else None
        for name, child in given.value.items() if given else ():
            if name not in PARAMETERS:
                hint = f"an uploaded suite may set {', '.join(PARAMETERS)}; others need a suite on the server"
                raise child.error(
                    f"the parameter {name[:60]!r} is not taken from an upload", hint, reason="reserved_key"
                )


def seal(suite: Suite, user: AbstractBaseUser) -> str:
    """The suite as text that only this site can have made, for this curator; raises SuiteError if it is too large."""
    whole = suite.to_dict()
    if len(signing.JSONSerializer().dumps(whole)) > LARGEST_SUITE:
        hint = f"keep it within {LARGEST_SUITE} characters, or put it on the server"
        raise SuiteError("prompts.yaml", 0, "", "the suite is too large to be uploaded", hint, "oversize")
    return signing.dumps(whole, salt=_salt(user), compress=True)


def unseal(sealed: str, user: AbstractBaseUser) -> Suite | None:
    """The suite that was sealed for this curator within a day; None if it was not."""
    try:
        return Suite.from_dict(signing.loads(sealed, salt=_salt(user), max_age=SEALED_FOR))
    except signing.BadSignature:
        return None


def _salt(user: AbstractBaseUser) -> str:
    return f"generation.suite_uploads.{user.pk}"
