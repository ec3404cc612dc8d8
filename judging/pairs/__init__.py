"""Two drawings, one vote."""

NAME = "pairwise"  # what suites call it
