"""Fetch the weights of the competition's classifier from its hub, verify every byte, and use it from then on.

The hub is asked which files a revision has and what their digests are, and then for the files of that revision. Nothing is
in its place before all of it is verified. The built-in classifier is used until then.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from benchsite.lib.hosts import is_https_or_local
from generation.formats.base import BackendMissing, Progress
from generation.formats.science_birds.similarity import FETCHED, LETTERS

HUB = "https://huggingface.co"
HUB_ENV = "HF_ENDPOINT"  # the hub's own variable for a mirror
MODEL = "pittawat/vit-base-uppercase-english-characters"
NEEDED = ("config.json", "preprocessor_config.json")
WEIGHTS = ("model.safetensors", "pytorch_model.bin")  # the first that is there: safetensors hold no code
LARGEST = 2 << 30  # bytes in all
TIMEOUT = httpx.Timeout(60.0)
PORTION = 1 << 20


class FetchError(BackendMissing):
    """The weights could not be fetched, or are not what the hub says they are; the message says what and why."""


@dataclass(frozen=True)
class HubFile:
    """A file of a revision, with its size and digest: SHA-256 for large files, git's own for small ones."""

    name: str
    size: int
    sha256: str
    blob: str

    def fault(self, path: Path) -> str:
        """Why the file at a path is not this one, or nothing."""
        size = path.stat().st_size
        if size != self.size:
            return f"has {size:,} bytes instead of {self.size:,}"
        digest = hashlib.sha256() if self.sha256 else hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
        with path.open("rb") as file:
            while part := file.read(PORTION):
                digest.update(part)
        return "" if digest.hexdigest() == (self.sha256 or self.blob) else "has another digest than the hub says"


def fetch_weights(
    folder: Path, *, revision: str = "main", progress: Progress = lambda done, total: None
) -> dict[str, Any]:
    """Fetches what the classifier needs into a folder, which is replaced as a whole; returns what was fetched."""
    hub = _checked(os.environ.get(HUB_ENV) or HUB)
    fresh = folder.with_name(f"{folder.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    try:
        with httpx.Client(timeout=TIMEOUT, follow_redirects=True, trust_env=False) as client:
            commit, files = _listed(client, hub, revision)
            total, done = sum(file.size for file in files), 0
            for file in files:
                address = f"{hub}/{MODEL}/resolve/{commit}/{file.name}"
                _download(
                    client, address, fresh / file.name, file, lambda size, before=done: progress(before + size, total)
                )
                done += file.size
        _check_labels(fresh / "config.json")
        fetched = {"model": MODEL, "revision": commit, "files": {file.name: file.sha256 or file.blob for file in files}}
        (fresh / FETCHED).write_text(json.dumps(fetched, indent=1))
        shutil.rmtree(folder, ignore_errors=True)
        fresh.rename(folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return fetched


def _checked(address: str) -> str:
    if not is_https_or_local(address):
        raise FetchError(f"{address} is not an https address.")
    return address.rstrip("/")


@contextmanager
def _opened(client: httpx.Client, address: str) -> Iterator[httpx.Response]:
    with client.stream("GET", address) as reply:
        _checked(str(reply.url))
        if reply.status_code != 200:
            raise FetchError(f"The hub answered {reply.status_code} for {address}.")
        yield reply


def _listed(client: httpx.Client, hub: str, revision: str) -> tuple[str, list[HubFile]]:
    """The commit a revision stands for, and the files that are needed of it."""
    address = f"{hub}/api/models/{MODEL}/revision/{quote(revision, safe='')}?blobs=true"
    try:
        with _opened(client, address) as reply:
            listing = json.loads(reply.read())
        there = {entry["rfilename"]: _file(entry) for entry in listing["siblings"]}
        commit = str(listing["sha"])
    except httpx.HTTPError as error:
        way_out = f"Run this on a machine with a network, or name a mirror in {HUB_ENV}; until then nothing changes."
        raise FetchError(f"The hub cannot be reached: {error or type(error).__name__}. {way_out}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise FetchError(f"The hub's list of files cannot be read: {type(error).__name__}.") from None
    weights = next((name for name in WEIGHTS if name in there), WEIGHTS[0])
    if missing := [name for name in (*NEEDED, weights) if name not in there]:
        raise FetchError(f"Revision {commit} of {MODEL} has no {' and no '.join(missing)}.")
    files = [there[name] for name in (*NEEDED, weights)]
    if sum(file.size for file in files) > LARGEST:
        raise FetchError(f"Its files have over {LARGEST >> 30} GB.")
    return commit, files


def _file(entry: dict[str, Any]) -> HubFile:
    large = entry.get("lfs") or {}
    return HubFile(
        str(entry["rfilename"]), int(large.get("size", entry["size"])), large.get("sha256", ""), str(entry["blobId"])
    )


def _download(client: httpx.Client, address: str, path: Path, file: HubFile, progress: Any) -> None:
    size = 0
    try:
        with _opened(client, address) as reply, path.open("wb") as out:
            for part in reply.iter_bytes(PORTION):
                size += len(part)
                if size > file.size:
                    raise FetchError(f"{file.name} is larger than the hub says.")
                out.write(part)
                progress(size)
    except httpx.HTTPError as error:
        raise FetchError(f"{file.name} could not be fetched: {error or type(error).__name__}.") from None
    if fault := file.fault(path):
        raise FetchError(f"{file.name} {fault}; nothing was installed.")


def _check_labels(path: Path) -> None:
    labels = json.loads(path.read_text()).get("id2label", {})
    if sorted(str(label).upper()[-1:] for label in labels.values()) != sorted(LETTERS):
        raise FetchError("Its labels are not the 26 capital letters.")
