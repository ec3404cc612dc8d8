"""Where Django looks for the tables of an app; a protocol of the site needs no such file."""

from tests.best_of_four.judging.models import Pick

__all__ = ["Pick"]
