from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from tests.generation.suites.suite_files import MODELS, write_suite


def suites(root: Path) -> tuple[int, str, str]:
    out, err, code = StringIO(), StringIO(), 0
    (root / "demo.yaml").write_text("provider: demo\nmodels: [demo/a]\nsize: {prompts: 1, attempts: 1}\n")
    try:
        call_command("suites", root=root, stdout=out, stderr=err)
    except SystemExit as stop:
        code = stop.code
    return code, out.getvalue(), err.getvalue()


def test_command_works(tmp_path):
    write_suite(tmp_path, programs=None, models=MODELS.replace("  - plain/model\n", "").replace("ollama", "openrouter"))

    code, out, err = suites(tmp_path)

    assert (code, err) == (0, "")
    line = "letters Letters: 2 prompts, 1 model, 4 samples; svg, rubric + pairwise; at most $0.03"
    assert " ".join(out.split()) == line


def test_suite_on_ollama_is_free(tmp_path):
    write_suite(tmp_path, models="models: [{id: llama3, provider: ollama}]")

    _, out, _ = suites(tmp_path)

    assert out.rstrip().endswith("; free")


def test_broken_suite_is_listed_with_the_reason_and_the_others_too(tmp_path):
    write_suite(tmp_path)
    write_suite(tmp_path, slug="worse", models="models:\n  - no\n")

    code, out, err = suites(tmp_path)

    assert code == 1
    assert out.startswith("letters ")
    assert "cost unknown" in out
    assert err.startswith("worse is broken. ")
    assert "worse/models.yaml, line 2, models[0]: " in err


def test_broken_providers_file_is_told(tmp_path):
    write_suite(tmp_path)
    (tmp_path / "providers.yaml").write_text("providers: {x: {kind: openai, base_url: 'http://host.example'}}")

    code, out, err = suites(tmp_path)

    assert code == 1
    assert out.startswith("letters ")
    assert "providers.yaml, line 1, providers.x.base_url: http is allowed on this machine only; use https." in err


def test_escape_codes_do_not_reach_the_terminal(tmp_path):
    (tmp_path / "a\x1b[31m").mkdir()
    write_suite(tmp_path)

    _, _, err = suites(tmp_path)

    assert "\x1b" not in err
    assert "\\x1b[31m is broken" in err


def test_missing_folder_is_told(tmp_path, capsys):
    with pytest.raises(SystemExit):
        call_command("suites", root=tmp_path / "nowhere")

    assert "there is no such folder" in capsys.readouterr().err
