"""Pairs chosen where votes count: an opt-in phase of a run, after the balanced one."""
