"""The picture that a link to a leaderboard brings along."""

from __future__ import annotations

from io import BytesIO

from PIL import Image

from ranking.charts.share_picture import STEP, TOP, SharedRow, _shortened, draw_share_picture

ROWS = [
    SharedRow("Master", 1154, 1085, 1223),
    SharedRow("Journeyman", 1086, 981, 1191),
    SharedRow("Nobody", 900, None, None),
]


def opened(body: bytes) -> Image.Image:
    return Image.open(BytesIO(body)).convert("RGB")


def test_it_has_the_size_that_links_want():
    assert opened(draw_share_picture("ASCII art", "Master leads.", ROWS)).size == (1200, 630)


def test_the_same_leaderboard_gives_the_same_picture():
    assert draw_share_picture("A", "B", ROWS) == draw_share_picture("A", "B", ROWS)


def test_a_better_score_stands_further_right():
    picture = opened(draw_share_picture("A", "B", ROWS))

    def dot(row: int) -> int:
        return next(x for x in range(1200) if picture.getpixel((x, TOP + STEP * row)) == (29, 84, 193))

    assert dot(0) > dot(1) > dot(2)


def test_demo_data_is_marked_in_the_picture_itself():
    warn = (138, 83, 0)

    assert warn not in set(opened(draw_share_picture("A", "B", ROWS)).get_flattened_data())
    assert warn in set(opened(draw_share_picture("A", "B", ROWS, label="demo players")).get_flattened_data())


def test_long_names_and_no_rows_do_no_harm():
    body = draw_share_picture("W" * 300, "word " * 200, [SharedRow("M" * 200, 1.5, None, None)] * 40)

    assert opened(body).size == opened(draw_share_picture("", "", [])).size == (1200, 630)


def test_a_sentence_that_is_cut_says_so():
    assert _shortened(["one", "two"], 3) == ["one", "two"]
    assert _shortened(["one", "two", "three,", "four"], 3) == ["one", "two", "three …"]
