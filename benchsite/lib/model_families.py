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
}
_FIRST_WORD = re.compile(r"[^\W\d_]+")


def family_of(model_id: str) -> str:
    """The maker of a model by its id: `openai/gpt-5`, `gpt-5-mini` and `o3` are one family; an unknown name is its own.

    Demo players share a provider but nothing else: each is a family of its own.
    """
    if model_id.startswith("demo/"):
        return model_id
    maker, _, name = model_id.lower().rpartition("/")
    for part in (maker.rpartition("/")[2], name):
        word = _FIRST_WORD.match(part)
        if word:
            return MAKERS.get(word.group(), word.group())
    return model_id.lower()
