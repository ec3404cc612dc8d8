"""Ollama's own chat API: the window is asked for with each call, and a prompt that was cut is noticed.

Ollama cuts a prompt that is longer than its window without a word, keeps about half a window of it, and counts what it
kept. So each call asks for a window that the prompt and the longest answer must fit into, by bytes; newer servers are
told not to cut; and what came back is compared with what was sent and with the window that was really loaded. Where a
server does not say which window it loaded, the prompt is sent in halves too: a whole that has fewer tokens than its halves
was cut. Servers before 0.2 do not count what they kept of an earlier prompt; with them only the window that is asked for
guards a prompt.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from generation.money import price_of, prompt_size
from generation.providers.catalogue import ModelInfo
from generation.providers.errors import ProviderError, text_of
from generation.providers.requests import OURS, Request
from generation.suites.model_facts import LARGEST_CONTEXT, ModelFacts

if TYPE_CHECKING:
    from generation.suites.profiles import Profile

STEP = 2048  # windows come in steps, so that prompts of different length do not load the model again each time
TEMPLATE_TOKENS = 512  # what a chat template may add to a prompt
KEEP_ALIVE = "10m"
COUNTS_ALL = (
    0,
    2,
)  # servers before this version count only those tokens of a prompt that they had not kept from the last
TOP_LEVEL = frozenset({"format", "keep_alive", "think", "options"})
SLACK = 16  # tokens by which a text may differ from its halves: those at the seam, and the template's
THINK: Mapping[str, bool | str] = {"none": False, "minimal": "low", "xhigh": "high"}

Fetch = Callable[..., Awaitable[dict[str, Any]]]


def is_native(profile: Profile) -> bool:
    """An address that ends in /v1 is Ollama's OpenAI door, which has no window to ask for."""
    return profile.kind == "ollama" and not profile.base_url.endswith("/v1")


def needed_tokens(prompt_tokens: int, max_tokens: int | None) -> int:
    """The most that a prompt, its template and its answer can take."""
    return prompt_tokens + TEMPLATE_TOKENS + (max_tokens or 0)


def window_for(request: Request) -> int:
    return -(-needed_tokens(prompt_size(request.messages), _longest_answer(request)) // STEP) * STEP


def _longest_answer(request: Request) -> int | None:
    return request.max_tokens or request.parameters.get("max_completion_tokens")


def payload_of(request: Request) -> dict[str, Any]:
    """The JSON body of a chat request; sampling parameters go by OpenAI's names or within `options`."""
    given = {name: value for name, value in request.parameters.items() if name not in OURS and value is not None}
    top = {"format": request.schema} if request.schema is not None else {}
    top |= {name: value for name, value in given.items() if name in TOP_LEVEL}
    options = top.pop("options", None)
    options = dict(options) if isinstance(options, Mapping) else {}
    ours = ("reasoning_effort", "max_tokens", "max_completion_tokens", "provider", "reasoning")
    options |= {name: value for name, value in given.items() if name not in (*TOP_LEVEL, *ours)}
    effort = given.get("reasoning_effort")
    window = max(window_for(request), options.get("num_ctx", 0) if isinstance(options.get("num_ctx"), int) else 0)
    fixed = {"temperature": request.temperature, "num_predict": _longest_answer(request), "num_ctx": window}
    return {
        "model": request.model_id,
        "messages": [_message(message) for message in request.messages],
        "stream": False,
        "truncate": False,
        "shift": False,
        "keep_alive": KEEP_ALIVE,
        **({"think": THINK.get(effort, effort)} if effort else {}),
        **top,
        "options": {"seed": request.seed}
        | options
        | {name: value for name, value in fixed.items() if value is not None},
    }


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    images = [address.partition(",")[2] for address in message.get("images", ())]
    return {"role": message["role"], "content": message["content"], **({"images": images} if images else {})}


def completion_of(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Ollama's answer in the shape of OpenAI's."""
    if answer.get("error"):
        return dict(answer)
    if answer.get("done") is not True:
        return {**answer, "error": {"code": "incomplete_body", "message": "The answer ended before it was done."}}
    return {
        "model": answer.get("model"),
        "choices": [{"finish_reason": answer.get("done_reason") or "stop", "message": answer.get("message")}],
        "usage": {"prompt_tokens": answer.get("prompt_eval_count"), "completion_tokens": answer.get("eval_count")},
    }


def cut_fault(request: Request, prompt_tokens: int | None) -> str:
    """An answer to half a question is no answer: why it is one where fewer tokens were read than the prompt has words."""
    words = sum(len(str(message["content"]).split()) for message in request.messages)
    if prompt_tokens is None or words <= prompt_tokens < window_for(request):
        return ""
    return (
        f"Ollama read {prompt_tokens} tokens of a prompt of {words} words in a window of {window_for(request)}: it cut "
        f"the prompt of {request.model_id} silently. Its answers would not be answers to this suite."
    )


class Windows:
    """What one client knows of the windows of models: what they are built for, and what was loaded."""

    def __init__(self, fetch: Fetch) -> None:
        self.fetch = fetch
        self.models: dict[tuple[str, str], ModelInfo] = {}
        self.loaded: set[tuple[str, str, int]] = set()
        self.versions: dict[str, tuple[int, ...]] = {}

    async def refuse_small(self, profile: Profile, request: Request) -> None:
        """Raises before anything is asked where the model was not built for prompt and answer of this length."""
        key = (profile.base_url, request.model_id)
        if key not in self.models:
            self.models[key] = await show(self.fetch, profile, request.model_id)
        needed = needed_tokens(prompt_size(request.messages), _longest_answer(request))
        if fault := window_fault(request.model_id, self.models[key].facts.context, needed):
            raise ProviderError("fatal_model", "window_too_small", fault)

    async def check_answer(
        self, profile: Profile, request: Request, prompt_tokens: int | None, *, seconds: float
    ) -> None:
        """Raises where the prompt was cut, or would be; what cannot be asked in this time is asked after the next answer."""
        fault = cut_fault(request, prompt_tokens)
        try:
            async with asyncio.timeout(max(seconds, 0)):
                if fault and await self.version_of(profile) < COUNTS_ALL:
                    fault = ""
                if not fault:
                    await self.refuse_shrunk(profile, request, prompt_tokens)
        except TimeoutError:
            pass
        if fault:
            raise ProviderError("fatal_model", "prompt_cut", fault)

    async def version_of(self, profile: Profile) -> tuple[int, ...]:
        """The server's version; one that does not say it is taken for a new one."""
        if profile.base_url not in self.versions:
            try:
                answer = await self.fetch(profile, "/api/version")
            except ProviderError:
                return COUNTS_ALL
            numbers = re.match(r"(\d{1,6})\.(\d{1,6})", text_of(answer.get("version")))
            self.versions[profile.base_url] = tuple(map(int, numbers.groups())) if numbers else COUNTS_ALL
        return self.versions[profile.base_url]

    async def refuse_shrunk(self, profile: Profile, request: Request, prompt_tokens: int | None) -> None:
        """Raises where the server loaded the model with a smaller window than it was asked for, or cut the prompt."""
        asked = window_for(request)
        key = (profile.base_url, request.model_id, asked)
        if key in self.loaded:
            return
        try:
            running = await self.fetch(profile, "/api/ps")
        except ProviderError:
            running = {}  # older servers do not say it
        models, known = running.get("models"), False
        for model in models if isinstance(models, list) else []:
            if isinstance(model, dict) and same_tag(request.model_id, text_of(model.get("model") or model.get("name"))):
                window = model.get("context_length")
                known = known or isinstance(window, int)
                if isinstance(window, int) and 0 < window < asked:
                    raise ProviderError(
                        "fatal_model",
                        "window_too_small",
                        f"Ollama loaded {request.model_id} with a window of {window} tokens instead of {asked}: longer "
                        "prompts would be cut silently. Give the server more memory, or ask for shorter answers.",
                    )
        if not known and prompt_tokens is not None and await self.version_of(profile) >= COUNTS_ALL:
            try:
                await self.refuse_cut(profile, request, prompt_tokens)
            except ProviderError as error:
                if error.code == "prompt_cut":
                    raise
                return  # asked again after the next answer
        self.loaded.add(key)

    async def refuse_cut(self, profile: Profile, request: Request, prompt_tokens: int) -> None:
        """Raises where a prompt has fewer tokens than its two halves; its longest message is halved."""
        longest = max(range(len(request.messages)), key=lambda place: len(request.messages[place]["content"]))
        text = request.messages[longest]["content"]
        middle = text.find(" ", len(text) // 2)
        if middle < 0:
            return
        first, second, without = [
            await self.count(profile, request, longest, part) for part in (text[:middle], text[middle:], "")
        ]
        if prompt_tokens < first + second - without - SLACK:
            raise ProviderError(
                "fatal_model",
                "prompt_cut",
                f"Ollama read {prompt_tokens} tokens of a prompt of {request.model_id} whose halves have {first + second - without}: "
                "it cut the prompt silently. Its answers would not be answers to this suite.",
            )

    async def count(self, profile: Profile, request: Request, place: int, text: str) -> int:
        """The tokens of a prompt with another text in one of its messages."""
        messages = [*request.messages]
        messages[place] = {**messages[place], "content": text}
        body = payload_of(replace(request, messages=tuple(messages)))
        body["options"] |= {"num_predict": 1, "num_ctx": window_for(request)}
        tokens = (await self.fetch(profile, "/api/chat", body=body)).get("prompt_eval_count")
        if not isinstance(tokens, int):
            raise ProviderError("retry", "bad_response", "Ollama does not count the tokens of a prompt.")
        return tokens


def window_fault(model_id: str, context: int | None, needed: int) -> str:
    """Why a model's window is too small, or nothing."""
    if context is None or needed <= context:
        return ""
    return (
        f"{model_id} has a window of {context} tokens, but the longest prompt and answer may take {needed}: the prompt would "
        "be cut silently. Lower max_tokens, or choose a model with a larger window."
    )


def same_tag(asked: str, named: str) -> bool:
    return named in (asked, f"{asked}:latest")


async def list_models(fetch: Fetch, profile: Profile) -> dict[str, ModelInfo]:
    """The models that were pulled, by name; `llama3.2` stands for `llama3.2:latest` too."""
    answer = await fetch(profile, "/api/tags")
    entries = answer.get("models")
    if not isinstance(entries, list):
        raise ProviderError("retry", "bad_response", "The list of models has no models.")
    listed = {}
    for entry in entries:
        if isinstance(entry, dict) and (name := text_of(entry.get("model") or entry.get("name"), 200)):
            info = ModelInfo(name, price_of(0, 0), _facts(entry, {}), name)
            listed[name] = info
            listed.setdefault(name.removesuffix(":latest"), info)
    return listed


async def show(fetch: Fetch, profile: Profile, model_id: str) -> ModelInfo:
    """What the server says of one model: context, quantisation, whether it sees; and its digest, from the list."""
    answer = await fetch(profile, "/api/show", body={"model": model_id})
    listed = (await list_models(fetch, profile)).get(model_id)
    capabilities = answer.get("capabilities")
    return ModelInfo(
        id=model_id,
        price=price_of(0, 0),
        facts=_facts({**answer, "digest": listed.facts.digest if listed else ""}, answer.get("model_info")),
        name=model_id,
        sees="vision" in capabilities if isinstance(capabilities, list) else None,
    )


def _facts(entry: Mapping[str, Any], info: Any) -> ModelFacts:
    details = entry.get("details")
    details = details if isinstance(details, Mapping) else {}
    info = info if isinstance(info, Mapping) else {}
    contexts = [value for name, value in info.items() if str(name).endswith(".context_length")]
    context = contexts[0] if contexts else None
    known = isinstance(context, int) and not isinstance(context, bool) and 0 < context <= LARGEST_CONTEXT
    return ModelFacts(
        weights="open",
        context=context if known else None,
        quantisation=text_of(details.get("quantization_level"), 80),
        digest=text_of(entry.get("digest"), 80),
    )
