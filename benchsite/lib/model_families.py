"""Which models are of one family: they share a maker, so that one may favour another's answers."""

from __future__ import annotations

import re

MAKERS = {
    **dict.fromkeys(("gpt", "chatgpt", "o", "codex"), "openai"),
    **dict.fromkeys(("claude", "opus", "sonnet", "haiku"), "anthropic"),
    **dict.fromkeys(("gemini", "gemma", "palm"), "google"),
    **dict.fromkeys(("mistral", "mixtral", "codestral", "magistral", "pixtral", "ministral", "mistralai"), "mistral"),
    **dict.fromkeys(("llama", "meta"), "meta"),
    **dict.fromkeys(("qwen", "qwq", "alibaba"), "qwen"),
    **dict.fromkeys(("grok", "x", "xai"), "xai"),
    **dict.fromkeys(("glm", "zhipu", "z", "thudm"), "zhipu"),
    **dict.fromkeys(("kimi", "moonshot", "moonshotai"), "moonshot"),
    **dict.fromkeys(("phi", "microsoft"), "microsoft"),
    **dict.fromkeys(("nova", "titan", "amazon"), "amazon"),
    **dict.fromkeys(("command", "cohere", "aya"), "cohere"),
    **dict.fromkeys(("deepseek",), "deepseek"),
}
_WORD = re.compile(r"[^\W\d_]+")


def family_of(model_id: str) -> str:
    """The maker of a model by its id: `openai/gpt-5`, `gpt-5-mini`, `azure/gpt-5` and `o3` are one family.

    What stands before the slash may be a host, so only a maker that we know counts before the words of the name; an
    unknown name is its own family. Demo players share a provider but nothing else: each is a family of its own.
    """
    if model_id.startswith("demo/"):
        return model_id
    path, _, name = model_id.lower().rpartition("/")
    front = [word.group() for part in (path.rpartition("/")[2], name) if (word := _WORD.match(part))]
    later = [word for word in _WORD.findall(name) if len(word) > 1]  # a letter is a name only in front, as in o3
    known = (maker for word in (*front, *later) if (maker := _maker(word)))
    return next(known, front[0] if front else model_id.lower())


def _maker(word: str) -> str:
    return MAKERS.get(word, word if word in MAKERS.values() else "")
