"""A suite that uses every block, as files: what loader tests start from and break."""

from __future__ import annotations

from pathlib import Path

import pytest

from generation.suites.loading import load_suite
from generation.suites.yaml_source import SuiteError

CONFIG = """\
generation:
  attempts_per_prompt: 2
  temperature: 1
  max_tokens: 4000
  provider: openrouter
  system_prompt: Draw.
  parameters: {top_p: 0.9}
suite:
  title: Letters
  description: Letters of blocks.
  method: A rubric in two stages.
  format: svg
  protocols: [rubric, pairwise]
  seed: 7
  concurrency: 4
  budget: 2.5
  provider_order: [first, second]
judging:
  overlap: 0.5
  repeats: 0.1
  quota: 20
  target: 300
  reveal: after_vote
  instructions: Look closely.
rubric:
  low: 0
  high: 10
  step: 0.5
  missing: skip
  stages:
    - key: s1
      label: Stage 1
      weight: 1.0
      dimensions:
        - key: shape
          label: Shape
          weight: 0.6
          help: Is it the letter?
        - key: look
          label: Look
          weight: 0.4
    - key: s2
      label: Stage 2
      weight: 1.8
      dimensions:
        - key: look
          label: Look
          weight: 1
categories:
  - key: s1
    label: Stage 1
    description: Easy.
  - key: s2
    label: Stage 2
format_options: {size: 20}
"""

MODELS = """\
models:
  - plain/model
  - id: other/model:free
    label: Other
    provider: ollama
    note: via proxy
    extra_prompt: Only the tag.
    parameters: {reasoning: {effort: low}}
    price_in: 0.5
    price_out: 2
"""

PROMPTS = """\
template: "Draw the letter {{letter}}"
category: s1
subjects:
  - A
  - key: bee
    subject: B
    category: s2
    facts: {target: B, description: Two bows.}
"""

PROGRAMS = """\
rules:
  max_characters: 200
  max_turns: 3
programs:
  - name: zero-shot
    team: hosts
    baseline: true
    turns: ["Build {{target}}."]
    note: The one to beat.
  - name: planner
    disqualified: Copied from another team.
    turns: ["Plan {{target}}.", "Now build."]
"""

PROVIDERS = """\
providers:
  openrouter: {kind: openrouter, base_url: "https://openrouter.ai/api/v1", key_env: OPENROUTER_API_KEY}
  ollama: {kind: ollama, base_url: "http://127.0.0.1:11434/v1"}
"""

FILES = {"config.yaml": CONFIG, "models.yaml": MODELS, "prompts.yaml": PROMPTS, "programs.yaml": PROGRAMS}


def write_suite(root: Path, slug: str = "letters", **changed: str | None) -> Path:
    """The suite's folder; `models=...` replaces models.yaml, None leaves the file out."""
    folder = root / slug
    folder.mkdir(parents=True)
    (root / "providers.yaml").write_text(PROVIDERS)
    for name, text in FILES.items():
        text = changed.get(name.removesuffix(".yaml"), text)
        if text is not None:
            (folder / name).write_text(text)
    return folder


def refusal(folder: Path) -> SuiteError:
    with pytest.raises(SuiteError) as caught:
        load_suite(folder)
    return caught.value
