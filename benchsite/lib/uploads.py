"""A file that a curator sends: on this disk under its own name while a verb reads it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from django.core.files.uploadedfile import TemporaryUploadedFile, UploadedFile

LONGEST_NAME = 60  # characters; file systems count bytes, and up to 255


@contextmanager
def kept(upload: UploadedFile) -> Iterator[Path]:
    """The upload as a path that errors can name. A large one is on the disk already and is linked, not copied."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / (upload.name or "upload")[-LONGEST_NAME:]
        if isinstance(upload, TemporaryUploadedFile):
            path.symlink_to(upload.temporary_file_path())
        else:
            path.write_bytes(upload.read())
        yield path
