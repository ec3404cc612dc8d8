"""A folder of YAML becomes a Suite, or one error that names file, line, key and what to do.

- `config.yaml`: generation, suite (or `standard` where it has none), judging, rubric, format_options, categories
- `models.yaml`: who is asked
- `prompts.yaml`: what is asked (read by `prompt_files`)
- `programs.yaml`: prompt programs, where those compete (read by `program_files`)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from generation.formats import format_names
from generation.protocols import PROTOCOLS
from generation.suites import yaml_fields as read
from generation.suites.model_facts import FACT_KEYS, read_facts
from generation.suites.profiles import load_profiles
from generation.suites.program_files import read_programs
from generation.suites.prompt_files import read_prompts
from generation.suites.rubric_files import read_rubric
from generation.suites.standard import prompts_path, standard_suite
from generation.suites.studies.gold import read_gold
from generation.suites.studies.study_files import read_study
from generation.suites.suite import Category, Generation, Judging, ModelEntry, ProgramRules, PromptEntry, Rubric, Suite
from generation.suites.yaml_fields import optional
from generation.suites.yaml_source import Node, SuiteError, load_yaml, short_name

FILES = ("config.yaml", "models.yaml", "prompts.yaml", "programs.yaml")
SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,49}")
REVEAL = ("never", "closed", "after_vote")
FACES = ("stack", "large")
PAIRS = ("balanced", "adaptive")
PRICE_KEYS = ("price_in", "price_out", "price_request", "price_image")
MODEL_KEYS = ("id", "label", "provider", "note", "extra_prompt", "parameters", *PRICE_KEYS, *FACT_KEYS)
SUITE_KEYS = (
    "title",
    "description",
    "method",
    "format",
    "protocols",
    "seed",
    "concurrency",
    "budget",
    "provider_order",
)
GENERATION_KEYS = ("attempts_per_prompt", "temperature", "max_tokens", "provider", "system_prompt", "parameters")
# These are set by the suite itself; a second value would make the run's record untrue or its cost bound wrong.
RESERVED_PARAMETERS = ("model", "messages", "stream", "n")
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")
MOST_TOKENS = 200_000


@dataclass(frozen=True)
class BrokenSuite:
    """A folder that could not be loaded, and why."""

    slug: str
    error: SuiteError


def load_suites(root: Path) -> list[Suite | BrokenSuite]:
    """Every folder under `root`, in order of name; a broken one never hides the others. Read again when a file changed."""
    files = [(str(path), path.lstat()) for path in sorted(root.rglob("*"))]
    return list(
        _read_suites(root, tuple((name, at.st_mtime_ns, at.st_size) for name, at in files), tuple(format_names()))
    )


@lru_cache(maxsize=1)
def _read_suites(
    root: Path, stamps: tuple[tuple[str, int, int], ...], formats: tuple[str, ...]
) -> list[Suite | BrokenSuite]:
    suites: list[Suite | BrokenSuite] = []
    for folder in sorted(path for path in root.iterdir() if path.is_dir() and path.name[0] not in "._"):
        try:
            suites.append(load_suite(folder))
        except SuiteError as error:
            suites.append(BrokenSuite(folder.name, error))
    return suites


def load_suite(path: Path, *, providers: Path | None = None) -> Suite:
    """The suite in one folder, whole or not at all; `providers` is another file than the one beside the folder."""
    _check_folder(path)
    providers = providers or path.parent / "providers.yaml"
    known = _known_providers(providers)
    top = ("suite", "generation", "judging", "rubric", "format_options", "categories")
    config = read.mapping(load_yaml(path / "config.yaml"), top, ("generation",))
    rubric = optional(config, "rubric", read_rubric, None)
    standard = standard_suite(path.name, has_rubric=rubric is not None)
    suite = optional(config, "suite", _suite_block, standard)
    for name in suite["protocols"]:
        if PROTOCOLS[name].needs_rubric and rubric is None:
            problem = f"the protocol {name} needs a rubric"
            hint = f"add rubric: with its stages, or take {name} out of protocols"
            raise config["suite"].error(problem, hint, reason="missing_key", key="protocols")
    has_programs = (path / "programs.yaml").exists()
    categories: tuple[Category, ...] = optional(config, "categories", _categories, ())
    rules, programs = read_programs(path / "programs.yaml") if has_programs else (ProgramRules(), ())
    generation = _generation(config["generation"], known)
    prompts_file = prompts_path(path, providers.parent, is_standard="suite" not in config)
    prompts = read_prompts(prompts_file, seed=suite["seed"], categories=categories, rubric=rubric)
    return Suite(
        slug=path.name,
        **suite,
        generation=generation,
        judging=optional(config, "judging", _judging, Judging()),
        rubric=rubric,
        format_options=optional(config, "format_options", read.plain_mapping, {}),
        categories=categories or _implied_categories(prompts, rubric),
        models=read_models(path / "models.yaml", providers=known, most_tokens=generation.max_tokens),
        prompts=prompts,
        programs=programs,
        program_rules=rules,
    )


def _check_folder(path: Path) -> None:
    name = short_name(path)
    if not SLUG.fullmatch(path.name):
        hint = "use lower-case letters, digits and dashes, at most 50"
        raise SuiteError(name, 0, "", f"{path.name[:60]!r} is not a suite's name", hint, "bad_identifier")
    if not path.is_dir():
        raise SuiteError(name, 0, "", "there is no such suite", "create the folder with its YAML files", "missing_file")
    for file in sorted(path.iterdir()):
        if file.suffix in (".yaml", ".yml") and file.name not in FILES:
            hint = read.nearest(file.name, FILES)
            raise SuiteError(short_name(file), 0, "", "a suite has no such file", hint, "unknown_file")


def _known_providers(path: Path) -> tuple[str, ...]:
    # A providers.yaml that is absent or broken is its own problem; then any name passes here.
    try:
        return tuple(load_profiles(path, environ={}))
    except SuiteError:
        return ()


def _provider(node: Node, providers: tuple[str, ...]) -> str:
    name = read.key(node)
    return read.choice(node, providers, "provider") if providers else name


def _parameters(node: Node, most_tokens: int) -> dict[str, Any]:
    values = read.plain_mapping(node)
    for name in values:
        if name in RESERVED_PARAMETERS:
            raise node.value[name].error(f"{name} is set by the suite", "delete it here", reason="reserved_key")
    if (effort := node.value.get("reasoning_effort")) is not None and effort.value is not None:
        read.choice(effort, EFFORTS, "reasoning effort")
    _check_limit(node.value.get("max_tokens"), node.value.get("max_completion_tokens"), most_tokens)
    return values


def _check_limit(old: Node | None, new: Node | None, most_tokens: int) -> None:
    """The suite's limit may go by its newer name, for models that refuse the old one; it never grows."""
    if old is not None and (old.value is not None or new is None):
        hint = "delete it here, or write max_tokens: null and max_completion_tokens"
        raise old.error("max_tokens is set by the suite", hint, reason="reserved_key")
    if new is not None and old is None:
        raise new.error("the suite's max_tokens is sent as well", "add max_tokens: null", reason="reserved_key")
    if new is not None:
        read.integer(new, 1, most_tokens)


def _suite_block(node: Node) -> dict[str, Any]:
    fields = read.mapping(node, SUITE_KEYS, ("title", "description", "method", "format", "protocols", "seed"))
    protocols = read.items(fields["protocols"], least=1)
    names = [read.choice(child, PROTOCOLS, "protocol") for child in protocols]
    read.unique(protocols, names, "protocol")
    order: list[Node] = optional(fields, "provider_order", read.items, [])
    return {
        "title": read.line(fields["title"], limit=120),
        "description": read.text(fields["description"]).strip(),
        "method": read.text(fields["method"]).strip(),
        "format": read.choice(fields["format"], format_names(), "format"),
        "protocols": tuple(names),
        "seed": read.integer(fields["seed"], 0, 2**31 - 1),
        "concurrency": optional(fields, "concurrency", lambda child: read.integer(child, 1, 256), 8),
        "budget_usd": optional(fields, "budget", lambda child: _maybe_number(child, 100_000), None),
        "provider_order": tuple(read.line(child, limit=100) for child in order),
    }


def _maybe_number(node: Node, high: float) -> float | None:
    return None if node.value is None else read.number(node, 0, high)


def _maybe_count(node: Node) -> int | None:
    return None if node.value is None else read.integer(node, 1, 1_000_000)


def _generation(node: Node, providers: tuple[str, ...]) -> Generation:
    fields = read.mapping(node, GENERATION_KEYS, ("attempts_per_prompt", "temperature", "max_tokens", "provider"))
    most_tokens = read.integer(fields["max_tokens"], 1, MOST_TOKENS)
    return Generation(
        attempts_per_prompt=read.integer(fields["attempts_per_prompt"], 1, 100),
        temperature=None if fields["temperature"].value is None else read.number(fields["temperature"], 0, 2),
        max_tokens=most_tokens,
        provider=_provider(fields["provider"], providers),
        system_prompt=optional(fields, "system_prompt", lambda child: read.text(child, blank=True), ""),
        parameters=optional(fields, "parameters", lambda child: _parameters(child, most_tokens), {}),
    )


def _judging(node: Node) -> Judging:
    fields = read.mapping(
        node, ("overlap", "repeats", "quota", "target", "reveal", "instructions", "faces", "pairs", "gold", "study")
    )
    standard = Judging()
    judging = Judging(
        overlap=optional(fields, "overlap", lambda child: read.number(child, 0, 1), standard.overlap),
        repeats=optional(fields, "repeats", lambda child: read.number(child, 0, 0.5), standard.repeats),
        quota=optional(fields, "quota", _maybe_count, None),
        target=optional(fields, "target", _maybe_count, None),
        reveal=optional(fields, "reveal", lambda child: read.choice(child, REVEAL, "reveal"), standard.reveal),
        instructions=optional(fields, "instructions", lambda child: read.text(child, blank=True).strip(), ""),
        faces=optional(fields, "faces", lambda child: read.choice(child, FACES, "faces"), standard.faces),
        pairs=optional(fields, "pairs", lambda child: read.choice(child, PAIRS, "pairs"), standard.pairs),
        gold=optional(fields, "gold", read_gold, None),
        study=optional(fields, "study", read_study, None),
    )
    if judging.gold and judging.reveal == "after_vote":
        problem = "names after each vote would tell judges which pairs are checks"
        raise fields["gold"].error(problem, "use reveal: closed or never, or leave gold out", reason="conflict")
    if judging.pairs == "adaptive" and judging.reveal == "after_vote":
        problem = "adaptive pairs would tell a judge who knows the names which models are close"
        raise fields["pairs"].error(problem, "use reveal: closed or never, or balanced pairs", reason="conflict")
    return judging


def _categories(node: Node) -> tuple[Category, ...]:
    nodes = read.items(node, least=1, most=100)
    categories = []
    for child in nodes:
        fields = read.mapping(child, ("key", "label", "description"), ("key", "label"))
        description = optional(fields, "description", lambda text: read.text(text).strip(), "")
        categories.append(Category(read.key(fields["key"]), read.line(fields["label"], limit=100), description))
    read.unique(nodes, [category.key for category in categories], "category")
    return tuple(categories)


def _implied_categories(prompts: tuple[PromptEntry, ...], rubric: Rubric | None) -> tuple[Category, ...]:
    if rubric:
        return tuple(Category(stage.key, stage.label) for stage in rubric.stages)
    keys = dict.fromkeys(prompt.category for prompt in prompts if prompt.category)
    return tuple(Category(key, re.sub(r"[-_]+", " ", key).capitalize()) for key in keys)


def read_models(
    path: Path, *, providers: tuple[str, ...] = (), most_tokens: int = MOST_TOKENS
) -> tuple[ModelEntry, ...]:
    root = load_yaml(path)
    # Ids reach requests, pages and files: a bad one is named before a stray key.
    entries = read.having(root, ()).get("models")
    models = read_model_list(entries, providers=providers, most_tokens=most_tokens) if entries else ()
    read.mapping(root, ("models",), ("models",))
    return models


def read_model_list(
    node: Node, *, providers: tuple[str, ...] = (), most_tokens: int = MOST_TOKENS
) -> tuple[ModelEntry, ...]:
    nodes = read.items(node, least=1, most=500)
    models = [_model(child, providers, most_tokens) for child in nodes]
    read.unique(nodes, [model.id for model in models], "model")
    return tuple(models)


def _model(node: Node, providers: tuple[str, ...], most_tokens: int) -> ModelEntry:
    if not isinstance(node.value, dict):
        name = read.model_id(node)
        return ModelEntry(name, name)
    fields = read.mapping(node, MODEL_KEYS, ("id",))
    name = read.model_id(fields["id"])
    return ModelEntry(
        id=name,
        label=optional(fields, "label", lambda child: read.line(child, limit=120), name),
        provider=optional(fields, "provider", lambda child: _provider(child, providers), ""),
        note=optional(fields, "note", read.line, ""),
        extra_prompt=optional(fields, "extra_prompt", lambda child: read.text(child).strip(), ""),
        parameters=optional(fields, "parameters", lambda child: _parameters(child, most_tokens), {}),
        **_prices(fields),
        facts=read_facts(fields),
    )


def _prices(fields: dict[str, Node]) -> dict[str, float | None]:
    """Of tokens in and out both or neither: with half a price nobody can say what a call may cost."""
    prices = {name: optional(fields, name, lambda child: _maybe_number(child, 10_000), None) for name in PRICE_KEYS}
    for given in PRICE_KEYS:
        for absent in PRICE_KEYS[:2]:
            if prices[given] is not None and prices[absent] is None:
                hint = f"give {absent} too, or delete {given}"
                raise fields[given].error(f"is half a price, without {absent}", hint, reason="missing_key")
    return prices
