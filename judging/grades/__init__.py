"""One drawing, a rubric."""

NAME = "rubric"  # what suites call it
