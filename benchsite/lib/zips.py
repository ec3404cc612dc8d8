"""Zips from anywhere: what Python raises at one that is cut short, damaged, encrypted or oddly named.

ValueError is for names that are no text, and for places before the beginning of a zip that is held in memory.
"""

from __future__ import annotations

import zipfile
import zlib

BROKEN_ZIP = (OSError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)
