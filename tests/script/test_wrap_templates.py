"""Template lines are broken where a browser shows the same page, and nowhere else."""

from __future__ import annotations

import re

import pytest

from script.wrap_templates import WIDTH, wrap

LONG = "word " * 40


def test_text_is_broken_at_its_spaces():
    wrapped = wrap(f"  <p>{LONG.strip()}</p>\n<p>short</p>\n")

    assert max(map(len, wrapped.split("\n"))) <= WIDTH
    assert wrapped.split() == f"<p>{LONG.strip()}</p> <p>short</p>".split()
    assert [line[:5] for line in wrapped.split("\n")] == ["  <p>", "    w", "<p>sh", ""]


@pytest.mark.parametrize(
    "kept",
    [
        f"{{% include 'a.html' with words='{LONG}' %}}",
        f"{{{{ value|default:'{LONG}' }}}}",
        f'"{LONG}{{% if a %}}{LONG}{{% endif %}}"',
        f"<pre>{LONG}{{{{ art }}}}</pre>",
        f"<textarea>{LONG}</textarea>",
        f"{{% comment %}}{LONG}{{% endcomment %}}",
    ],
)
def test_what_must_stay_whole_stays_whole(kept):
    assert kept in wrap(f"<div>{LONG}<a title={kept} href='/'>{LONG}</a></div>")


def test_no_space_comes_between_words_that_had_none():
    wrapped = wrap("<p>" + "{% if a %}<em>one</em>{% else %}two{% endif %}" * 9 + "</p>")

    assert not re.search(r"\s", re.sub(r"{%.*?%}|<[^>]*>", "", wrapped))


def test_rows_and_cells_begin_on_lines_of_their_own():
    wrapped = wrap("<tr>" + '<td class="number">{{ row.votes|thousands }}</td>' * 5 + "</tr>")

    assert all(line.lstrip().startswith(("<tr>", "<td")) for line in wrapped.split("\n"))


def test_what_is_broken_already_stays_as_it_is():
    once = wrap(f'<p class="lede">{LONG}<a href="/">{LONG}</a></p><br>{LONG}')

    assert wrap(once) == once
