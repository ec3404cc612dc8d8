"""A programs.yaml: prompt programs, and the rules they must keep."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from generation.suites import yaml_fields as read
from generation.suites.programs import check_program
from generation.suites.suite import ProgramEntry, ProgramRules
from generation.suites.yaml_fields import optional
from generation.suites.yaml_source import Node, load_yaml

PROGRAM_KEYS = ("name", "team", "turns", "baseline", "disqualified", "note", "source", "python")


def read_programs(path: Path, *, check: bool = True) -> tuple[ProgramRules, tuple[ProgramEntry, ...]]:
    """Programs with the rules they must keep; one that does not qualify is refused unless it is marked disqualified.

    Without `check` any program is read, for a caller that says itself what is wrong with each.
    """
    fields = read.mapping(load_yaml(path), ("rules", "programs"), ("programs",))
    rules = optional(fields, "rules", _rules, ProgramRules())
    nodes = read.items(fields["programs"], least=1, most=500)
    programs = [_program(node) for node in nodes]
    read.unique(nodes, [program.name for program in programs], "program")
    for node, program in zip(nodes, programs, strict=True):
        reasons = check_program(program, rules) if check else []
        if reasons and not program.disqualified:
            message = "does not qualify: " + " ".join(reasons).rstrip(".")
            hint = "mend it, or give the reason in disqualified:"
            raise node.error(message, hint, reason="unqualified", key="turns")
    return rules, tuple(programs)


def _rules(node: Node) -> ProgramRules:
    most = {"max_characters": 100_000, "max_turns": 50, "max_question": 200_000}
    fields = read.mapping(node, tuple(most))
    rules = ProgramRules()
    for name, high in most.items():
        if name in fields:
            rules = replace(rules, **{name: read.integer(fields[name], 1, high)})
    return rules


def _program(node: Node) -> ProgramEntry:
    fields = read.mapping(node, PROGRAM_KEYS, ("name",))
    if len({"turns", "python", "source"} & fields.keys()) != 1:
        hint = "give turns: or python: to be run here, or source: for a program whose answers are imported"
        raise node.error("has not one of turns, python and source", hint, reason="missing_key", key="turns")
    return ProgramEntry(
        name=read.line(fields["name"], limit=100),
        team=optional(fields, "team", lambda child: read.line(child, limit=100), ""),
        turns=optional(fields, "turns", _turns, ()),
        baseline=optional(fields, "baseline", read.boolean, False),
        disqualified=optional(fields, "disqualified", lambda child: read.line(child, blank=True), ""),
        note=optional(fields, "note", read.line, ""),
        source=optional(fields, "source", lambda child: read.text(child, limit=100_000), ""),
        python=optional(fields, "python", lambda child: read.text(child, limit=100_000), ""),
    )


def _turns(node: Node) -> tuple[str, ...]:
    return tuple(read.text(child, limit=100_000) for child in read.items(node, least=1, most=50))
