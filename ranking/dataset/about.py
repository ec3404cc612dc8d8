"""What its publisher says of a dataset: version, authors, licence, consent. Pages, commands and files share it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime

from benchsite.lib.text import clean_text


@dataclass(frozen=True)
class Licence:
    """A licence by its SPDX id, by the name that dataset hubs use, and its address."""

    spdx: str
    hub: str
    title: str
    url: str


LICENCES = {
    licence.spdx: licence
    for licence in (
        Licence("CC-BY-4.0", "cc-by-4.0", "Creative Commons Attribution 4.0", "https://creativecommons.org/licenses/by/4.0/"),
        Licence("CC0-1.0", "cc0-1.0", "Creative Commons Zero 1.0", "https://creativecommons.org/publicdomain/zero/1.0/"),
        Licence("CC-BY-SA-4.0", "cc-by-sa-4.0", "Creative Commons Attribution-ShareAlike 4.0", "https://creativecommons.org/licenses/by-sa/4.0/"),
        Licence("CC-BY-NC-4.0", "cc-by-nc-4.0", "Creative Commons Attribution-NonCommercial 4.0", "https://creativecommons.org/licenses/by-nc/4.0/"),
        Licence("ODC-By-1.0", "odc-by", "Open Data Commons Attribution 1.0", "https://opendatacommons.org/licenses/by/1-0/"),
    )
}  # fmt: skip
FIRST_VERSION = "1.0.0"
VERSION = re.compile(r"\d{1,6}\.\d{1,6}\.\d{1,6}")
LONGEST = 2000


class AboutError(ValueError):
    """What is wrong with the publisher's words, by field."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field, self.message = field, message


@dataclass(frozen=True)
class About:
    """The publisher's words and choices. `consent` says what judges agreed to; without it nothing is published."""

    authors: tuple[str, ...]
    consent: str
    licence: str = "CC-BY-4.0"
    version: str = FIRST_VERSION
    title: str = ""
    url: str = ""
    answers: bool = False  # what judges chose in studies, without small groups
    comments: bool = False  # what they wrote there, without their numbers
    on: date = field(default_factory=lambda: datetime.now(UTC).date())

    def checked(self) -> About:
        """The same with stray spaces and control characters removed; raises AboutError."""
        authors = tuple(text for author in self.authors if (text := _line(author)))
        if not authors:
            raise AboutError("authors", "Name at least one author.")
        if not _line(self.consent):
            raise AboutError("consent", "Say what judges agreed to, or that no person judged.")
        if self.licence not in LICENCES:
            raise AboutError("licence", f"Choose one of {', '.join(LICENCES)}.")
        if not VERSION.fullmatch(self.version):
            raise AboutError("version", "A version has three numbers, such as 1.0.0.")
        if self.url and not re.fullmatch(r"https?://[^\s<>\"]{3,300}", self.url):
            raise AboutError("url", "An address begins with https:// and has no spaces.")
        return replace(self, authors=authors, consent=_line(self.consent), title=_line(self.title))


def _line(text: str) -> str:
    return " ".join(clean_text(text)[0].split())[:LONGEST]
