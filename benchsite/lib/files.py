"""Files from outside: a curator's upload while a verb reads it, and what Python raises at a zip that is broken."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from django.core.files.uploadedfile import TemporaryUploadedFile, UploadedFile

LONGEST_NAME = 60  # characters; file systems count bytes, and up to 255

# A zip may be cut short, damaged, encrypted or oddly named. ValueError is for names that are no text, and for places
# before the beginning of a zip that is held in memory.
BROKEN_ZIP = (OSError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)


def attachment(name: str) -> str:
    """A Content-Disposition that saves the response under this name, whatever characters the name has."""
    return f'attachment; filename="{re.sub(r"[^A-Za-z0-9._-]", "_", name)}"'


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
