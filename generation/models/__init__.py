"""What is asked, of whom, and what they drew.

Money is whole nano-dollars (1 USD = 10⁹), so that both databases add and compare it exactly.
"""

from generation.models.calls import ProviderCall
from generation.models.entrants import Entrant, LanguageModel, Prompt, ReferencePicture
from generation.models.events import Event, Notice
from generation.models.fields import CodeField
from generation.models.runs import Run
from generation.models.samples import (
    ARCHIVE_DIFFERS,
    LEAK_MARKED,
    OFFENSIVE,
    UNFINISHED,
    Measurement,
    Reading,
    Sample,
    SampleQuerySet,
)
from generation.models.teams import Team, default_team, teams_of
