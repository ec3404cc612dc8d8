"""Finding a model's signature in what it drew, so that blind judging stays blind.

How a name is recognised:

- Text and names are folded alike: NFKC, accents and zero-width characters dropped, lower case, Cyrillic and Greek
  look-alikes and leetspeak (0 1 3 4 5 7 @ $) read as letters, i and l as one. What is left is cut into words.
- A *strong* name may be spaced out or punctuated (`c l a u d e`, `GPT-4o`), but begins and ends with a word, a version
  number after it aside. Eight letters or more are also found inside a longer word (`drawnByAnthropic`).
- A *weak* name, shorter than four letters or an everyday word (`nova`, `falcon`, `o1`), counts only right after a sign
  of signing on the same line: by, from, model, signed, I am, artist, © and, for words of four letters or more, a dash.
- Names are looked for line by line. Words written downwards, backwards or as large letters are not found.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

FAMILIES = (
    *("GPT", "ChatGPT", "OpenAI", "Claude", "Anthropic", "Gemini", "Gemma", "DeepMind", "Llama", "Mistral", "Mixtral"),
    *("Codestral", "Magistral", "DeepSeek", "Qwen", "QwQ", "Alibaba", "Grok", "xAI", "Cohere", "Kimi", "Moonshot AI"),
    *("GLM", "Zhipu", "Z.AI", "MiniMax", "Nemotron", "Nvidia", "Perplexity", "Hermes 4", "Nous Research", "Baichuan"),
    *("ERNIE", "Hunyuan", "Tencent", "Doubao", "ByteDance", "SmolLM", "Hugging Face", "OLMo", "AI21", "Jamba"),
    *("Granite", "Phi", "Yi", "Nova", "Titan", "Falcon", "Command R", "Orca", "Bard", "Copilot", "Sonnet", "Opus"),
    *("Haiku", "o1", "o3", "o4-mini", "Google", "Meta", "Microsoft", "Amazon"),
)
# Names that are also things people draw or write about.
EVERYDAY = frozenset(
    (
        *("amazon", "apple", "arctic", "base", "bard", "chat", "command", "copilot", "coral", "demo", "falcon", "fast"),
        *("flash", "free", "google", "granite", "haiku", "hermes", "instruct", "large", "lite", "llama", "local"),
        *("medium", "meta", "micro", "microsoft", "mini", "nano", "nova", "opus", "orca", "palm", "perplexity"),
        *("phoenix", "pixel", "preview", "small", "solar", "sonnet", "star", "tiny", "titan", "turbo", "ultra"),
        *("vision", "wizard"),
    )
)
_KNOWN_SHORT = frozenset({"gpt", "glm"})  # letters that mean nothing else
_GLUED = 8
_LEET = str.maketrans("013457@$l", "oieastasi")
_ALIKE = str.maketrans("авеѕкмнорстухіјѵοαερικντυχ", "abeskmhopctyxijvoaepikvtux")
_WORD = re.compile(r"[a-z0-9@$]+")
_CUE = re.compile(r"(?:\b(?:by|from|model|signed|signature|i am|i'm|artist)\b|©|\(c\))(?:[^\S\n]|[:=\-—~])*")
_DASHES = re.compile(r"(?:-{2,}|—|–|~+)[^\S\n]*")


def _plain(text: str) -> str:
    """NFKC, lower case, without accents, zero-width or other format characters, look-alikes as Latin letters."""
    if text.isascii():
        return text.lower()
    wide = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text)).casefold()
    return "".join(c for c in wide if unicodedata.category(c) not in ("Mn", "Me", "Cf")).translate(_ALIKE)


def _letters(name: str) -> str:
    return "".join(_WORD.findall(_plain(name)))


@dataclass(frozen=True)
class _Form:
    """One way a name may be written, folded."""

    folded: str
    weak: bool

    @property
    def short(self) -> bool:
        return len(self.folded) < 4


@lru_cache(maxsize=4096)
def _forms(name: str) -> tuple[_Form, ...]:
    """How a signature may write `vendor/family-version:tag`: all of it, its model part, its vendor, its family word."""
    vendor, _, model = name.rpartition("/")
    model = model.split(":")[0]
    family = re.match(r"[^\W\d_]+", model)
    written = dict.fromkeys(map(_letters, (name, model, vendor, family.group() if family else "")))
    return tuple(
        _Form(word.translate(_LEET), word in EVERYDAY or (len(word) < 4 and word not in _KNOWN_SHORT))
        for word in written
        if len(word) > 1
    )


class _Text:
    """A text folded for matching: its words run together line by line, and where each begins and ends."""

    def __init__(self, text: str) -> None:
        self.plain = _plain(text)
        self.starts: dict[int, int] = {}  # place in joined -> place in plain
        self.ends: set[int] = set()
        pieces: list[str] = []
        at = place = 0
        for line in self.plain.split("\n"):
            for word in _WORD.finditer(line):
                pieces.append(word.group())
                self.starts[at] = place + word.start()
                at += len(word.group())
                self.ends.add(at)
            pieces.append("\n")
            at += 1
            place += len(line) + 1
        self.unfolded = "".join(pieces)
        self.joined = self.unfolded.translate(_LEET)
        self.after_cue = {cue.end() for cue in _CUE.finditer(self.plain)}
        self.after_cue_or_dash = self.after_cue | {dash.end() for dash in _DASHES.finditer(self.plain)}

    def has(self, form: _Form) -> bool:
        at = self.joined.find(form.folded)
        while at != -1:
            if self._stands_at(at, at + len(form.folded), form):
                return True
            at = self.joined.find(form.folded, at + 1)
        return False

    def _stands_at(self, at: int, end: int, form: _Form) -> bool:
        if self.unfolded[at:end].isdigit():
            return False  # coordinates, such as 41 21: numbers alone spell no name
        if not form.weak and end - at >= _GLUED:
            return True
        if at not in self.starts or not (end in self.ends or self.unfolded[end].isdigit()):
            return False
        if form.short and any(inner in self.starts for inner in range(at + 1, end)):
            return False
        return not form.weak or self.starts[at] in (self.after_cue if form.short else self.after_cue_or_dash)


def find_signature(text: str, names: Iterable[str] = ()) -> list[str]:
    """The names that sign the text, as given: the run's model ids, labels, aliases and vendors, then known families."""
    return list(_search(text, tuple(dict.fromkeys((*names, *FAMILIES)))))


@lru_cache(maxsize=1)  # a format and the reader may ask for the same drawing, one after the other
def _search(text: str, names: tuple[str, ...]) -> tuple[str, ...]:
    folded = _Text(text)
    return tuple(name for name in names if any(map(folded.has, _forms(name))))
