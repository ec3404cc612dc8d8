from __future__ import annotations

from pathlib import Path

import pytest

from generation.suites.profiles import Profile, load_profiles
from generation.suites.yaml_source import SuiteError

ROW = "providers:\n  mine:\n    kind: openai\n    base_url: https://host.example/v1\n"


def load(tmp_path: Path, text: str, **environ: str) -> dict[str, Profile]:
    file = tmp_path / "providers.yaml"
    file.write_text(text)
    return load_profiles(file, environ=environ)


def test_profiles_work(tmp_path):
    text = ROW + "    key_env: MY_KEY\n    headers: {X-Title: Bench}\n    concurrency: 3\n    timeout: 9\n"

    assert load(tmp_path, text) == {
        "mine": Profile("mine", "https://host.example/v1", "MY_KEY", {"X-Title": "Bench"}, "openai", 3, 9.0)
    }


def test_variable_overrides_the_address(tmp_path):
    text = ROW + "    base_url_env: MY_URL\n"

    assert load(tmp_path, text, MY_URL="http://127.0.0.1:9999/v1/")["mine"].base_url == "http://127.0.0.1:9999/v1"
    assert load(tmp_path, text, MY_URL="")["mine"].base_url == "https://host.example/v1"


def test_variable_is_checked_like_the_address(tmp_path):
    with pytest.raises(SuiteError) as caught:
        load(tmp_path, ROW + "    base_url_env: MY_URL\n", MY_URL="http://host.example/v1")

    assert (caught.value.reason, caught.value.key) == ("bad_url", "providers.mine.base_url_env")


@pytest.mark.parametrize("address", ["http://localhost:1/v1", "http://127.0.0.1:11434/v1", "http://[::1]:80/v1"])
def test_http_is_allowed_on_this_machine(tmp_path, address):
    assert load(tmp_path, ROW.replace("https://host.example/v1", address))["mine"].base_url == address


BAD = [
    "http://host.example/v1",
    "http://127.0.0.1.host.example/v1",
    "http://169.254.169.254/v1",
    "ftp://host.example/v1",
    "https://user:secret@host.example/v1",
    "https://host.example/v1?key=secret",
    "https://host.example:port/v1",
    "https://",
    "host.example",
    "https://[::1/v1",
]


@pytest.mark.parametrize("address", BAD)
def test_bad_address_is_refused_with_its_line(tmp_path, address):
    with pytest.raises(SuiteError) as caught:
        load(tmp_path, ROW.replace("https://host.example/v1", f'"{address}"'))

    assert (caught.value.reason, caught.value.line) == ("bad_url", 4)


@pytest.mark.parametrize("name", ["Authorization", "x-api-key", "Cookie", "Host", "Content-Length"])
def test_headers_that_carry_keys_or_frame_the_request_are_refused(tmp_path, name):
    with pytest.raises(SuiteError) as caught:
        load(tmp_path, ROW + f"    headers:\n      {name}: x\n")

    assert (caught.value.reason, caught.value.line) == ("secret", 6)


def test_header_with_a_line_break_is_refused(tmp_path):
    with pytest.raises(SuiteError) as caught:
        load(tmp_path, ROW + '    headers: {X-Title: "a\\r\\nX-Evil: 1"}\n')

    assert caught.value.reason == "bad_characters"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("key_env: sk-or-v1-secret", "bad_identifier"),
        ("concurrency: 0", "out_of_range"),
        ("timeout: soon", "wrong_type"),
        ("api_key: x", "unknown_key"),
    ],
)
def test_bad_setting_is_refused_with_its_line(tmp_path, line, reason):
    with pytest.raises(SuiteError) as caught:
        load(tmp_path, ROW + f"    {line}\n")

    assert (caught.value.reason, caught.value.line) == (reason, 5)


def test_unknown_kind_is_refused(tmp_path):
    with pytest.raises(SuiteError, match="unknown kind 'olama'; did you mean 'ollama'"):
        load(tmp_path, ROW.replace("kind: openai", "kind: olama"))
