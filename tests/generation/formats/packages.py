"""Installed packages that offer formats, as far as Python can tell: a `.dist-info` folder and perhaps a module."""

from __future__ import annotations

from pathlib import Path


def install(folder: Path, *, name: str, value: str, package: str = "haiku-format", code: str = "") -> Path:
    """A package whose entry point `name` is `value`; `code` is the text of the module that the value names."""
    info = folder / f"{package.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[benchsite.formats]\n{name} = {value}\n")
    if code:
        (folder / f"{value.partition(':')[0]}.py").write_text(code)
    return folder
