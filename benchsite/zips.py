"""Zips from anywhere: what Python raises at one that is cut short, damaged, encrypted or oddly named."""

from __future__ import annotations

import zipfile
import zlib

BROKEN_ZIP = (OSError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, UnicodeDecodeError)
