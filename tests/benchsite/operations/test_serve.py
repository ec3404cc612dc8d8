"""The one-command server: addresses, locks, and the supervisor's orders."""

from __future__ import annotations

import configparser
import os
import socket
import subprocess
import sys
import time

import pytest

from benchsite.operations import serve


def test_a_port_in_use_is_one_clear_sentence():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SystemExit) as stop:
            serve.read_address({"PORT": str(port)})

    assert str(stop.value) == (
        f"Port {port} on 127.0.0.1 is in use. Stop what uses it, or choose another: PORT=8001 script/server"
    )


@pytest.mark.parametrize("port", ["", "eight", "0", "70000", "-1"])
def test_a_port_that_is_none_is_refused(port):
    with pytest.raises(SystemExit, match="is not a port"):
        serve.read_address({"PORT": port})


@pytest.mark.parametrize(("word", "code"), [("--help", 0), ("runserver", 2)])
def test_a_word_too_many_is_answered_with_how_to_start_it(monkeypatch, capsys, word, code):
    monkeypatch.setattr(sys, "argv", ["script/server", word])

    with pytest.raises(SystemExit) as stop:
        serve.main()

    assert stop.value.code == code
    assert "PORT=8001 script/server" in capsys.readouterr().out


def test_a_folder_has_one_server(tmp_path):
    serve.lock_folder(tmp_path)

    second = (
        f"from pathlib import Path; from benchsite.operations import serve; serve.lock_folder(Path({str(tmp_path)!r}))"
    )
    done = subprocess.run([sys.executable, "-c", second], capture_output=True, text=True, cwd=serve.ROOT)

    assert done.returncode == 1
    assert done.stderr.startswith("Benchsite already runs from")


def test_a_queue_named_in_a_file_is_used_instead_of_the_embedded_one(tmp_path, monkeypatch):
    (tmp_path / "queue").write_text("redis://127.0.0.1:1/0\n")
    monkeypatch.delenv("REDIS_URL", raising=False)
    monkeypatch.setenv("REDIS_URL_FILE", str(tmp_path / "queue"))

    assert serve.start_queue(tmp_path) is None
    assert not (tmp_path / "redis_url").exists()


def test_the_folder_may_be_named_in_a_file(tmp_path, monkeypatch):
    (tmp_path / "name").write_text(f"{tmp_path / 'mine'}\n")
    monkeypatch.delenv("VAR_DIR", raising=False)
    monkeypatch.setenv("VAR_DIR_FILE", str(tmp_path / "name"))

    assert serve.var_folder() == tmp_path / "mine"


def test_every_child_is_restarted_and_stopped_with_its_children(tmp_path):
    children = serve.programs("127.0.0.1", 8000, tmp_path, ["/x/valkey-server", "--save", ""], 9000)

    config = configparser.RawConfigParser()
    config.read_string(serve.supervisor_config(children, tmp_path))

    sections = {name: dict(config[name]) for name in config.sections() if name.startswith("program:")}
    assert list(sections) == [f"program:{name}" for name in children]
    restarted = {name: section["autorestart"] for name, section in sections.items()}
    assert {name for name, value in restarted.items() if value != "true"} == {"program:demo-runs"}
    assert all(section["killasgroup"] == "true" for section in sections.values())
    assert sections["program:queue"]["priority"] == "1"
    assert sections["program:queue"]["command"] == "'/x/valkey-server' '--save' ''"


def test_static_files_are_collected_again_only_when_one_changed(tmp_path, settings):
    source = tmp_path / "source"
    source.mkdir()
    (source / "a.css").write_text("a { color: red }")
    settings.STATICFILES_DIRS = [source]
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    settings.STATIC_ROOT = str(tmp_path / "collected")
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.ManifestStaticFilesStorage"}
    }
    stamp = tmp_path / "static.stamp"

    assert serve.collect_static(stamp)
    assert not serve.collect_static(stamp)
    (source / "a.css").write_text("a { color: green }")
    os.utime(source / "a.css", (time.time() + 10,) * 2)  # Django compares whole seconds
    assert serve.collect_static(stamp)
    assert "green" in (tmp_path / "collected" / "a.css").read_text()
    (tmp_path / "collected" / "staticfiles.json").unlink()
    assert serve.collect_static(stamp)
