"""Drawings as pixels, without a browser: the same on every machine, because fonts and renderers are the project's own."""

VERSION = 3  # raised when the same drawing gives other pixels
