"""Files that only their owner may read, from their first byte on."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import mkstemp


def write_private(path: Path, text: str) -> None:
    """Written beside it and moved into place: whoever has an older, readable file open sees nothing of the new text."""
    descriptor, name = mkstemp(dir=path.parent, prefix=f".{path.name}-")  # mode 0600
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink()
        raise
