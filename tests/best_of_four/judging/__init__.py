"""Four drawings, one pick."""

NAME = "best_of_four"
