"""docs/operations.md and deploy/: every setting in the table, every file in shape, every command a real one."""

from __future__ import annotations

import ast
import configparser
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from django.core.management import get_commands
from django.db.backends.postgresql.features import DatabaseFeatures

from generation.drawing.crew import GRACE_SECONDS
from tests.test_architecture import APPS

ROOT = Path(__file__).resolve().parents[3]
DOCS = (ROOT / "docs" / "operations.md").read_text()
ROWS = re.findall(r"^\| ((?:`[A-Z_]+`(?:, )?)+)(?: †)? \| (.*?) ?\|", DOCS, re.M)
TABLE = {name: default for names, default in ROWS for name in re.findall(r"[A-Z_]+", names)}
READERS = {"env_str", "env_bool", "env_int", "env_list", "env_roles", "env_folder", "left_behind"}
ENVIRONMENTS = {"os.environ", "environment", "environ"}
SET_BY_US = {"OPENBLAS_NUM_THREADS", "DJANGO_SETTINGS_MODULE"}  # for libraries
UNITS = sorted((ROOT / "deploy" / "systemd").glob("*.service"))


def variables_read() -> set[str]:
    """Every name that our own code, its scripts and the shipped providers read from the environment."""
    code = [path for folder in ("benchsite", *APPS) for path in (ROOT / folder).rglob("*.py")]
    found = {name for path in code for name in names_asked(ast.parse(path.read_text()))}
    for path in (ROOT / "deploy" / "manage", *filter(Path.is_file, (ROOT / "script").iterdir())):
        found |= set(re.findall(r"\$\{([A-Z_]+):?-", path.read_text()))
    found |= set(re.findall(r"base_url_env: ([A-Z_]+)", (ROOT / "config" / "providers.yaml").read_text()))
    return {name.removesuffix("_FILE") for name in found} - SET_BY_US


def names_asked(module: ast.Module) -> Iterator[str]:
    """What is given to a reader of the environment: as text, or as a constant of the module."""
    constants = {
        node.targets[0].id: node.value.value
        for node in module.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(module):
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) in ENVIRONMENTS:
            asked = node.slice
        elif isinstance(node, ast.Call) and node.args and asks(node.func):
            asked = node.args[0]
        else:
            continue
        name = asked.value if isinstance(asked, ast.Constant) else constants.get(ast.unparse(asked))
        if name:  # else it is handed in: a reader's own argument, or a profile's
            yield name


def asks(function: ast.expr) -> bool:
    if isinstance(function, ast.Attribute):
        return function.attr in ("get", "setdefault", "pop") and ast.unparse(function.value) in ENVIRONMENTS
    return isinstance(function, ast.Name) and function.id in READERS


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


def test_an_upgrade_takes_every_step_that_a_first_start_takes():
    """Containers and the one-command server do them all at each start; by hand they must be written down."""
    upgrades = DOCS[DOCS.index("## Upgrades") : DOCS.index("## Rotating keys")]
    prepare = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())["services"]["prepare"]["command"]
    image = (ROOT / "deploy" / "Containerfile").read_text()
    steps = re.findall(r"manage\.py ([a-z_]+)", prepare + image)

    assert {"migrate", "collectstatic", "first_logins"} == set(steps)
    assert [step for step in steps if f"manage.py {step}" not in upgrades] == []


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
    ours = {"prepare", "web", "draw", "measure", "fit", "refit", "sweep"}
    assert set(services) == ours | {"balancer", "database", "queue"}
    for name in ("web", "draw", "measure", "fit", "refit", "sweep"):
        assert services[name]["image"] == "benchsite" and "prepare" in services[name]["depends_on"]
        assert set(services[name]["environment"]) <= set(TABLE)
        assert services[name]["env_file"] == "compose.env", "keys and settings without a line of their own arrive by it"
    assert "?}" in services["database"]["environment"]["POSTGRES_PASSWORD"], "refuses to start without one"


@pytest.mark.parametrize("path", [".gitignore", "deploy/Containerfile.dockerignore"])
def test_secrets_of_the_containers_stay_out_of_the_repository_and_the_image(path):
    assert "deploy/compose.env" in (ROOT / path).read_text().replace("/deploy", "deploy").splitlines()


def test_stopping_a_worker_waits_as_long_as_it_takes_and_no_longer():
    unit = (ROOT / "deploy" / "systemd" / "benchsite-draw@.service").read_text()
    compose = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())
    grace = f"{GRACE_SECONDS:.0f} seconds"

    assert grace in DOCS and grace in unit
    assert GRACE_SECONDS * 2 < int(re.search(r"TimeoutStopSec=(\d+)", unit)[1]) <= 60
    assert compose["services"]["draw"]["stop_grace_period"] == "1m"


def test_the_oldest_postgresql_is_djangos():
    assert f"version {DatabaseFeatures.minimum_database_version[0]} or later" in DOCS


def test_example_environment_has_only_known_variables():
    lines = (ROOT / "deploy" / "benchsite.env.example").read_text().splitlines()
    names = {line.split("=")[0].removesuffix("_FILE") for line in lines if line and not line.startswith("#")}
    assert names <= set(TABLE) | {"OPENROUTER_API_KEY"}


def test_deployed_commands_read_the_environment_as_systemd_does(tmp_path):
    file = tmp_path / "benchsite.env"
    file.write_text(
        f'# a comment\n; another\nVAR_DIR={tmp_path}\nSITE_URL=https://bench.example.org\n\nMETRICS_TOKEN="a&b $HOME;c"'
    )
    asked = "from django.conf import settings; print(settings.SITE_URL, settings.METRICS_TOKEN)"
    command = [ROOT / "deploy" / "manage", "shell", "-v0", "-c", asked]

    done = subprocess.run(command, env={**os.environ, "BENCHSITE_ENV": str(file)}, capture_output=True, text=True)

    assert done.stdout == "https://bench.example.org a&b $HOME;c\n", done.stderr


def test_proxy_sets_what_it_forwards_and_hides_the_metrics():
    text = (ROOT / "deploy" / "nginx" / "benchsite.conf").read_text()
    assert "X-Forwarded-For   $remote_addr" in text and "$proxy_add_x_forwarded_for" not in text
    assert "location = /metrics { return 404; }" in text and text.count("{") == text.count("}")
