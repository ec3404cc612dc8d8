"""Measurements behind the figures in the docs: `script/bench NAME`."""
