"""Container files, manifests and the lock, checked by linters and schemas: no engine and no cluster runs here."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import kubernetes_validate
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from benchsite.operations import metrics
from tests.services import find_program

ROOT = Path(__file__).resolve().parents[3]
DEPLOY = ROOT / "deploy"
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
DOCUMENTS = [document for path in MANIFESTS for document in yaml.safe_load_all(path.read_text())]
OURS = [document for document in DOCUMENTS if not document["apiVersion"].startswith("keda.sh/")]
PODS = {d["metadata"]["name"]: d["spec"]["template"]["spec"] for d in DOCUMENTS if d["kind"] in ("Deployment", "Job")}
LOCK = (ROOT / "requirements.lock").read_text() + (ROOT / "requirements-tracing.lock").read_text()
LOCKED = dict(re.findall(r"^([A-Za-z0-9._-]+)(?:\[[a-z,]+\])?==([^\s;\\]+)", LOCK, re.M))
# The first and the last Python that may run the site, on either kind of processor.
MACHINES = [
    {"python_version": full.rpartition(".")[0], "python_full_version": full, "platform_machine": kind}
    for full in ("3.11.0", "3.13.99")
    for kind in ("x86_64", "aarch64")
]
TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
RULES = "{extends: default, rules: {braces: disable, brackets: disable, line-length: disable, document-start: disable, comments: disable}}"


def pinned(*files: str) -> list[Requirement]:
    lines = [line.partition("#")[0].strip() for file in files for line in (ROOT / file).read_text().splitlines()]
    return [Requirement(line) for line in lines if line and not line.startswith("-r")]


def test_every_file_is_clean_yaml():
    files = [DEPLOY / "compose.yaml", *MANIFESTS]

    done = subprocess.run([sys.executable, "-m", "yamllint", "-d", RULES, "-s", *files], capture_output=True, text=True)

    assert done.stdout == ""


def test_compose_follows_its_own_schema():
    command = [
        sys.executable,
        "-m",
        "check_jsonschema",
        "--builtin-schema",
        "vendor.compose-spec",
        DEPLOY / "compose.yaml",
    ]

    done = subprocess.run(command, capture_output=True, text=True)

    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("document", OURS, ids=lambda d: f"{d['kind']} {d['metadata']['name']}")
def test_manifests_follow_the_schema_of_kubernetes(document):
    kubernetes_validate.validate(document, kubernetes_validate.latest_version(), strict=True)


@pytest.mark.parametrize("name", PODS)
def test_a_pod_is_nobody_special_and_writes_where_it_may(name):
    pod = PODS[name]
    (container,) = pod["containers"]

    assert pod["securityContext"]["runAsNonRoot"] and not pod["automountServiceAccountToken"]
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert {mount["mountPath"] for mount in container["volumeMounts"]} == {"/var/lib/benchsite", "/tmp"}
    assert {"secretRef": {"name": "benchsite"}} in container["envFrom"] and "env" not in container, (
        "no secret is written down"
    )


def test_every_part_has_a_deployment_and_pages_have_probes_and_a_budget():
    parts = {name.removeprefix("benchsite-") for name in PODS}
    web = PODS["benchsite-web"]["containers"][0]
    budgets = {
        d["spec"]["selector"]["matchLabels"]["app.kubernetes.io/component"]
        for d in DOCUMENTS
        if d["kind"] == "PodDisruptionBudget"
    }

    assert parts == {"migrate", "web", "draw", "measure", "fit", "refit", "sweep"}
    assert web["livenessProbe"]["httpGet"]["path"] == "/healthz"
    assert web["readinessProbe"]["httpGet"]["path"] == "/readyz"
    assert budgets == {"web", "draw"}


def test_draw_workers_are_scaled_by_a_number_that_the_site_gives():
    scaled = next(d for d in DOCUMENTS if d["kind"] == "ScaledObject")
    number = scaled["spec"]["triggers"][0]["metadata"]["valueLocation"]

    assert scaled["spec"]["scaleTargetRef"]["name"] in PODS
    assert f'"{number.removeprefix("benchsite_")}"' in Path(metrics.__file__).read_text()


def test_the_lock_has_every_pinned_package_in_its_version_and_all_that_they_need():
    """Every hash was read from the index when `script/lock` ran; here it is compared with what is pinned and installed."""
    names = {canonicalize_name(name): version for name, version in LOCKED.items()}
    asked = pinned("requirements.txt", "requirements-tracing.txt")
    wrong = [str(one) for one in asked if not one.specifier.contains(names.get(canonicalize_name(one.name), "0"))]
    needed, queue = set(), [(one.name, tuple(one.extras)) for one in asked]
    while queue:
        name, extras = queue.pop()
        if (name := canonicalize_name(name)) in needed and not extras:
            continue
        needed.add(name)
        try:
            more = [Requirement(text) for text in requires(name) or []]
        except PackageNotFoundError:  # for another kind of machine
            continue
        queue += [
            (each.name, tuple(each.extras))
            for each in more
            if not each.marker
            or any(each.marker.evaluate({**machine, "extra": e}) for machine in MACHINES for e in (*extras, ""))
        ]

    assert wrong == [], "run script/lock"
    assert needed - set(names) == set(), "run script/lock"
    assert LOCK.count("==") <= LOCK.count("--hash=sha256:") and "://" not in LOCK


def test_the_image_is_built_from_the_lock_and_runs_as_nobody_special():
    lines = (DEPLOY / "Containerfile").read_text()
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]

    assert (
        "--require-hashes ${LOCKS}" in lines
        and 'ARG LOCKS="-r requirements.lock"' in lines
        and re.search(r"^USER 10001$", lines, re.M)
    )
    assert "HEALTHCHECK" in lines and "collectstatic" in lines
    assert services["web"]["deploy"]["replicas"] == 2
    for name in ("prepare", "web", "draw", "measure", "fit", "refit", "sweep"):
        assert (
            services[name]["read_only"]
            and services[name]["tmpfs"] == ["/tmp"]
            and services[name]["cap_drop"] == ["ALL"]
        )
        assert services[name]["volumes"] == ["var:/var/lib/benchsite"]


@pytest.mark.parametrize("name", ["benchsite.conf", "balancer.conf"])
def test_nginx_itself_accepts_its_file(name, tmp_path):
    """By the real `nginx -t`, with a certificate made here in place of the real one."""
    if (found := find_program("nginx")) is None:
        pytest.skip("nginx is not installed, and apt does not offer it")
    nginx, libraries = found
    text = (DEPLOY / "nginx" / name).read_text()
    files = ["-keyout", tmp_path / "privkey.pem", "-out", tmp_path / "fullchain.pem"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=x", "-days", "1", *files]
    subprocess.run(command, check=True, capture_output=True)
    text = text.replace("/etc/letsencrypt/live/bench.example.org", str(tmp_path)).replace(
        "/var/log/nginx", str(tmp_path)
    )
    text = re.sub(
        r"listen (\[::\]:)?(80|443)\b", lambda match: f"listen {match[1] or ''}{int(match[2]) + 40_000}", text
    )
    spare = "\n".join(f"{kind}_temp_path {tmp_path}/{kind};" for kind in TEMPORARY)
    main = f"pid {tmp_path}/pid;\nevents {{}}\nhttp {{\n{spare}\n{text}\n}}\n"
    (tmp_path / "nginx.conf").write_text(main)

    command = [nginx, "-t", "-e", "stderr", "-c", tmp_path / "nginx.conf"]
    done = subprocess.run(command, env={**os.environ, **libraries}, capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
    assert "[emerg]" not in done.stderr
