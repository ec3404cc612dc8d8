"""Participants' pages in eight languages: nothing is missing in a catalogue, and nothing on a page is outside one."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.template.base import Lexer, TokenType
from django.test import RequestFactory

from benchsite.languages import TRANSLATED
from benchsite.lib.languages import LANGUAGES
from benchsite.lib.languages.choosing import chosen_language, language_links
from script import messages

TEMPLATES = Path(__file__).parents[2] / "templates"
PAGES = [
    *("base.html", "_links.html", "_field.html", "404.html"),
    *(
        f"studies/{name}.html"
        for name in ("_frame", "_pairs", "_question", "end", "entry", "own_data", "practice", "problem", "step")
    ),
    *(f"judging/{name}.html" for name in ("judge", "_pair", "_keys")),
    *(f"judging/{name}.html" for name in ("join", "join_guest", "join_closed", "login", "locked")),
]
SHOWN = {"alt", "title", "placeholder", "aria-label", "aria-description"}  # attributes that are read out
NAMES = {"Benchsite", "UTC"}


class Words(HTMLParser):
    """What a reader sees or hears of a page; letters on key caps are the keyboard's."""

    def __init__(self):
        super().__init__()
        self.inside, self.words = "", []

    def handle_starttag(self, tag, attributes):
        self.inside = tag
        self.words += [word for name, value in attributes if name in SHOWN for word in words_in(value or "")]

    def handle_endtag(self, tag):
        self.inside = ""

    def handle_data(self, data):
        if self.inside != "kbd":
            self.words += words_in(data)


def words_in(text):
    return [word for word in re.findall(r"[A-Za-z]{2,}", text) if word not in NAMES]


def words_of(html):
    parser = Words()
    parser.feed(html)
    return parser.words


def without_tags(source):
    """A template's own HTML: without what its tags put in, and without what is between translation tags."""
    text, depth = "", 0
    source = re.sub(r"{% block page_class %}.*?{% endblock %}", "", source)  # of the stylesheet
    for token in Lexer(source).tokenize():
        if token.token_type == TokenType.BLOCK and token.contents.split()[0] in ("blocktranslate", "endblocktranslate"):
            depth += 1 if token.contents.startswith("b") else -1
        elif token.token_type == TokenType.TEXT and not depth:
            text += token.contents
    return text


@pytest.mark.parametrize("code", messages.LOCALES)
def test_a_catalogue_says_all_that_the_pages_say(code):
    assert messages.faults(code) == []


def test_every_language_but_english_has_a_catalogue():
    assert {"en", *messages.LOCALES} == set(LANGUAGES)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_participants_has_no_words_outside_the_catalogues(name):
    assert words_of(without_tags((TEMPLATES / name).read_text())) == []


def test_words_outside_the_catalogues_are_noticed():
    assert words_of(without_tags('<p title="a b">{% translate "In" %} Out {{ run }} <kbd>Ctrl</kbd></p>')) == ["Out"]
    assert words_of('<p aria-label="Left out"></p>') == ["Left", "out"]


def test_catalogues_notice_what_is_wrong(monkeypatch, tmp_path):
    monkeypatch.setattr(messages, "ROOT", tmp_path)
    monkeypatch.setattr(messages, "messages", lambda: {"%(a)s of %(b)s": [], "New": []})
    messages.path_of("de").parent.mkdir(parents=True)
    text = 'msgid "%(a)s of %(b)s"\nmsgstr "%(a)s"\n\n#, fuzzy\nmsgid "Old"\nmsgstr "Alt"\n'
    messages.path_of("de").write_text(f'msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n\n{text}')
    messages.path_of("de").with_suffix(".mo").write_bytes(b"")

    faults = messages.faults("de")

    assert faults == [
        "de: not in the catalogue: 'New'",
        "de: no page says it: 'Old'",
        "de: other placeholders in '%(a)s'",
        "de: no translation of 'Old'",
        "de: django.mo is not what django.po says",
    ]


@pytest.mark.parametrize(
    ("query", "cookie", "header", "offered", "expected"),
    [
        ("?lang=de", "fr", "es", (), "de"),
        ("?lang=pt-BR", "", "", (), "pt"),
        ("?lang=xx", "fr", "es", (), "fr"),
        ("", "", "zh-CN,zh;q=0.9,en;q=0.8", (), "zh-hans"),
        ("", "", "zh-TW,ja;q=0.5", (), "ja"),
        ("", "", "nl,de-AT;q=0.7", (), "de"),
        ("", "", "nl", (), "en"),
        ("", "", "en", ("de", "ar"), "de"),
        ("", "", "en,ar;q=0.5", ("de", "ar"), "ar"),
        ("?lang=fr", "fr", "fr", ("de", "ar"), "de"),
        ("", "", ",;;q=x,\x00" * 100, (), "en"),
    ],
)
def test_a_link_comes_before_the_study_and_the_study_before_the_browser(query, cookie, header, offered, expected):
    request = RequestFactory().get(f"/{query}", headers={"accept-language": header})
    request.COOKIES["language"] = cookie

    assert chosen_language(request, offered) == expected


def test_links_to_other_languages_keep_the_rest_of_the_address():
    request = RequestFactory().get("/?PROLIFIC_PID=one&lang=de")

    links = language_links(request, ("de", "ar"))

    assert [(link.address, link.current) for link in links] == [
        ("?PROLIFIC_PID=one&lang=de", True),
        ("?PROLIFIC_PID=one&lang=ar", False),
    ]
    assert language_links(request, ("de",)) == []


def test_pages_that_are_not_translated_stay_english(client, db):
    home, login = (client.get(path, headers={"accept-language": "ar"}) for path in ("/", "/login/"))

    assert '<html lang="en" dir="ltr">' in home.text and "Leaderboards" in home.text
    assert '<html lang="ar" dir="rtl">' in login.text and login["Content-Language"] == "ar"
    assert words_of(login.text.partition("<body>")[2]) == []
    assert "login" in TRANSLATED


def test_a_link_s_language_is_kept(client, db):
    client.get("/login/?lang=ja", headers={"accept-language": "de"})

    assert "ログイン" in client.get("/login/", headers={"accept-language": "de"}).text
