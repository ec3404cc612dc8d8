"""docs/operations.md and deploy/: every setting in the table, every file in shape, every command a real one."""

from __future__ import annotations

import ast
import configparser
import re
from pathlib import Path

import pytest
import yaml
from django.core.management import get_commands

ROOT = Path(__file__).resolve().parents[2]
DOCS = (ROOT / "docs" / "operations.md").read_text()
ROWS = re.findall(r"^\| ((?:`[A-Z_]+`(?:, )?)+)(?: †)? \| (.*?) ?\|", DOCS, re.M)
TABLE = {name: default for names, default in ROWS for name in re.findall(r"[A-Z_]+", names)}
READERS = {"env_str", "env_bool", "env_int", "env_list", "left_behind"}
UNITS = sorted((ROOT / "deploy" / "systemd").glob("*.service"))


def variables_read() -> set[str]:
    """Every name that our own code reads from the environment by name."""
    found = set()
    for path in ("benchsite/settings.py", "benchsite/environment.py", "benchsite/serve.py"):
        for node in ast.walk(ast.parse((ROOT / path).read_text())):
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
                owner = ast.unparse(node.func.value) if isinstance(node.func, ast.Attribute) else ""
                if name in READERS or (name in ("get", "setdefault") and owner in ("os.environ", "environment")):
                    found.add(node.args[0].value)
    return found - {"OPENBLAS_NUM_THREADS", "DJANGO_SETTINGS_MODULE"}  # set by us for libraries


def test_every_variable_is_in_the_table_and_every_row_is_read():
    assert variables_read() == set(TABLE)


def test_whole_numbers_in_the_table_are_the_defaults():
    source = (ROOT / "benchsite" / "settings.py").read_text()
    for name, default in re.findall(r"env_int\([\"']([A-Z_]+)[\"'], ([0-9_]+)\)", source):
        assert TABLE[name].strip("`") == str(int(default)), name


def test_every_command_that_is_named_exists():
    named = set(re.findall(r"manage\.py ([a-z_]+)", DOCS))
    for path in (ROOT / "deploy").rglob("*.*"):
        named |= set(re.findall(r"manage\.py ([a-z_]+)", path.read_text()))
    assert len(named) > 8 and named <= set(get_commands())


def test_every_file_that_is_named_exists():
    for name in re.findall(r"`((?:deploy|tests|script)/[\w./-]+)`", DOCS):
        assert (ROOT / name).exists(), name


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_units_start_what_the_docs_say(path):
    unit = configparser.ConfigParser(strict=True, interpolation=None)
    unit.optionxform = str
    unit.read(path)
    service = unit["Service"]
    assert service["EnvironmentFile"] == "/etc/benchsite.env" and service["User"] == "benchsite"
    assert "gunicorn benchsite.wsgi" in service["ExecStart"] or "manage.py" in service["ExecStart"]
    assert path.name.split("@")[0].split(".")[0] in DOCS


def test_compose_has_every_part_and_no_password():
    services = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())["services"]
    assert set(services) == {"prepare", "web", "draw", "measure", "fit", "refit", "sweep", "database", "queue"}
    for name in ("web", "draw", "measure", "fit", "refit", "sweep"):
        assert services[name]["image"] == "benchsite" and "prepare" in services[name]["depends_on"]
        assert set(services[name]["environment"]) <= set(TABLE) | {"OPENROUTER_API_KEY"}
    assert "?}" in services["database"]["environment"]["POSTGRES_PASSWORD"], "refuses to start without one"


def test_example_environment_has_only_known_variables():
    lines = (ROOT / "deploy" / "benchsite.env.example").read_text().splitlines()
    names = {line.split("=")[0].removesuffix("_FILE") for line in lines if line and not line.startswith("#")}
    assert names <= set(TABLE) | {"OPENROUTER_API_KEY"}


def test_proxy_sets_what_it_forwards_and_hides_the_metrics():
    text = (ROOT / "deploy" / "nginx" / "benchsite.conf").read_text()
    assert "X-Forwarded-For   $remote_addr" in text and "$proxy_add_x_forwarded_for" not in text
    assert "location = /metrics { return 404; }" in text and text.count("{") == text.count("}")
