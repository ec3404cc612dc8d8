"""The site's settings for a comparison with tools that let a judge vote as fast as the machine can."""

from benchsite.settings import *  # noqa: F403

MIN_VOTE_SECONDS = 0
