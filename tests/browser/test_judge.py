"""The judge's page in a real browser: keys, prefetch, undo, tabs, lost connections, no script, a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from generation.models import Run, Sample
from judging.models import Matchup, Report, Seat, Vote
from judging.pairs.serving import take_seat
from judging.pairs.tallies import differences
from judging.pairs.voting import Ballot, cast_vote
from tests.judging.make import make_run, make_seat

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("no_waiting")]
OFF_CENTRE = """(element) => { const range = document.createRange(); range.selectNodeContents(element);
  const text = range.getBoundingClientRect(); return Math.abs((text.left + text.right) / 2 - document.documentElement.clientWidth / 2) }"""
KEYS = {"a": "left", "d": "right", "s": "tie", "f": "fail"}
VOTES = "**/judge/vote/"


@pytest.fixture
def seat(log_in):
    run = make_run(entrants=4, prompts=6, attempts=2)
    seat = make_seat(run, "alice", quota=40)
    take_seat(seat.pk)
    log_in(seat.judge)
    return seat


@pytest.fixture
def judge_url(seat, live_server):
    return f"{live_server.url}/judge/{seat.run.code}/"


def on_screen(page):
    return page.locator(".pair").get_attribute("data-code")


def ready(page):
    """The script runs, the pair is drawn, and the last vote is not of this moment."""
    expect(page.locator("main.scripted button[value=left]")).to_be_enabled()


def press(page, key):
    """Press a key once the pair is drawn, and wait for the next pair."""
    before = on_screen(page)
    ready(page)
    page.keyboard.press(key)
    expect(page.locator(".pair")).not_to_have_attribute("data-code", before)
    return before


def settle(page, count):
    expect(page.locator("#count")).to_have_text(f"{count} of 40")


def outcomes():
    """In the order of their coming: the page sends one request after the other, so that nothing comes later than the last."""
    return list(Vote.objects.order_by("id").values_list("outcome", flat=True))


def test_four_keys_vote_on_what_is_shown(page, judge_url, seat, axe, two_frames):
    page.goto(judge_url)
    assert axe() == []
    sentences = {}
    for number, key in enumerate("adsf", start=1):
        ready(page)
        two_frames()  # nobody decides in less than a millisecond
        sentences[press(page, key)] = KEYS[key]
        settle(page, number)

    votes = Vote.objects.select_related("matchup")
    assert {vote.matchup.code: vote.outcome for vote in votes} == sentences
    assert all(0 < vote.response_ms < 60_000 for vote in votes)
    expect(page.locator("#said")).to_have_text("Voted both bad on the last pair.")
    assert differences(seat.run) == 0


@pytest.mark.provokes("429 (Too Many Requests)")
def test_a_vote_that_comes_too_soon_is_refused_and_sent_again_by_the_page(page, judge_url, seat, settings):
    page.goto(judge_url)
    first = press(page, "a")
    settle(page, 1)
    settings.MIN_VOTE_SECONDS = 3600

    with page.expect_response(lambda answer: answer.status == 429):
        second = press(page, "d")
    settings.MIN_VOTE_SECONDS = 0

    settle(page, 2)
    votes = Vote.objects.order_by("id").values_list("matchup__code", "outcome")
    assert list(votes) == [(first, "left"), (second, "right")]


@pytest.mark.provokes("net::ERR_FAILED")
@pytest.mark.parametrize("kind", ["judge_url", "picture_url"])
def test_the_next_pair_is_there_before_the_key_press_returns(page, kind, request):
    """Prefetched, pictures too: with the network cut, the next pair still stands there at once."""
    page.goto(request.getfixturevalue(kind))
    press(page, "a")
    settle(page, 1)
    ready(page)
    page.wait_for_load_state("networkidle")
    page.route("**", lambda route: route.abort())

    before, after, sides, drawn = page.evaluate(
        """() => {
            const pair = () => document.querySelector(".pair");
            const before = pair().dataset.code;
            document.dispatchEvent(new KeyboardEvent("keydown", { key: "a", bubbles: true }));
            const pictures = [...pair().querySelectorAll("img")];
            return [before, pair().dataset.code, pair().querySelectorAll(".half").length,
                    pictures.map((image) => image.complete && image.naturalWidth > 0)];
        }"""
    )

    assert (before != after, sides) == (True, 2)
    assert drawn == ([] if kind == "judge_url" else [True, True])


@pytest.mark.parametrize("slow", [False, True])
def test_a_double_click_does_not_vote_on_the_pair_that_comes_under_it(page, judge_url, seat, slow):
    page.goto(judge_url)
    ready(page)
    page.wait_for_load_state("networkidle")
    spot = page.locator("button[value=left]").bounding_box()
    page.mouse.move(spot["x"] + 9, spot["y"] + 9)

    for count in (1, 2):
        page.mouse.down(click_count=count)
        page.mouse.up(click_count=count)
        if slow:
            ready(page)  # a slow hand's second click still counts as such
    settle(page, 1)
    ready(page)

    page.locator("button[value=right]").click()
    settle(page, 2)
    assert outcomes() == ["left", "right"]


def test_two_keys_at_once_are_one_vote(page, judge_url, seat, two_frames):
    page.goto(judge_url)
    ready(page)
    page.wait_for_load_state("networkidle")

    page.keyboard.press("a")
    two_frames()
    page.keyboard.press("s")
    settle(page, 1)

    press(page, "d")
    settle(page, 2)
    assert outcomes() == ["left", "right"]


def test_undo_goes_back_and_forward_again(page, judge_url, seat):
    page.goto(judge_url)
    first, second = press(page, "a"), press(page, "d")
    settle(page, 2)

    page.keyboard.press("z")
    expect(page.locator(".pair")).to_have_attribute("data-code", second)
    page.keyboard.press("z")
    expect(page.locator(".pair")).to_have_attribute("data-code", first)
    settle(page, 0)
    assert press(page, "f") == first
    assert press(page, "f") == second
    settle(page, 2)

    assert list(Vote.objects.filter(withdrawn_at=None).values_list("outcome", flat=True)) == ["fail", "fail"]
    assert Vote.objects.count() == 4


@pytest.mark.provokes("409 (Conflict)")
def test_two_tabs_show_the_same_pair_and_count_it_once(page, judge_url, seat):
    page.goto(judge_url)
    other = page.context.new_page()
    other.goto(judge_url)
    shown = on_screen(page)
    assert on_screen(other) == shown

    press(page, "a")
    settle(page, 1)
    ready(other)
    other.keyboard.press("d")

    expect(other.locator("#notice")).to_contain_text("You already voted differently on that pair")
    expect(other.locator("#said")).to_have_text("Voted left on the last pair.")
    expect(other.locator(".pair")).to_have_attribute("data-code", on_screen(page))
    assert Vote.objects.get().outcome == "left"


@pytest.mark.provokes("net::ERR_FAILED")
def test_a_lost_connection_keeps_the_vote_and_sends_it_once(page, judge_url, seat):
    page.goto(judge_url)
    page.wait_for_load_state("networkidle")
    page.route(VOTES, lambda route: route.abort())
    shown = press(page, "a")
    expect(page.locator("#notice")).to_contain_text("No connection. Your vote is kept")
    assert Vote.objects.count() == 0

    page.unroute(VOTES)

    settle(page, 1)
    expect(page.locator("#notice")).to_be_hidden()
    assert Vote.objects.get().matchup.code == shown


def test_votes_given_without_a_connection_survive_a_reload_in_their_order(page, judge_url, seat):
    # Cut off in the page itself: a request under way while a page is replaced can slip past Playwright's routes.
    page.add_init_script("""
        const connected = window.fetch;
        window.fetch = (...request) => sessionStorage.cut ? Promise.reject(new TypeError("cut")) : connected(...request);
    """)
    page.goto(judge_url)
    page.wait_for_load_state("networkidle")
    page.evaluate("sessionStorage.cut = true")
    first = press(page, "a")
    ready(page)
    second = on_screen(page)
    page.keyboard.press("d")
    words = page.get_by_text("Fetching the next pair")
    expect(words).to_be_visible()
    assert page.evaluate(OFF_CENTRE, words.element_handle()) < 1
    page.reload()
    expect(page.locator("#notice")).to_contain_text("No connection. Your vote is kept")
    assert page.locator(".pair").count() == 0  # the server still shows the first, which has its vote
    assert Vote.objects.count() == 0

    page.evaluate("delete sessionStorage.cut")

    settle(page, 2)
    ready(page)
    expect(page.locator("#notice")).to_be_hidden()
    votes = Vote.objects.order_by("id").values_list("matchup__code", "outcome")
    assert list(votes) == [(first, "left"), (second, "right")]
    assert page.evaluate("sessionStorage.getItem('pending-votes')") == "[]"


@pytest.mark.provokes("403")
def test_a_vote_of_somebody_logged_out_is_sent_after_the_login(page, judge_url, seat, log_in):
    page.goto(judge_url)
    page.wait_for_load_state("networkidle")
    page.context.clear_cookies(name="sessionid")
    shown = press(page, "a")
    expect(page.locator("#notice")).to_contain_text("You are logged out")
    assert Vote.objects.count() == 0

    log_in(seat.judge)
    page.goto(judge_url)

    settle(page, 1)
    assert Vote.objects.get().matchup.code == shown


def test_the_back_button_shows_the_pair_of_now_and_votes_on_that(page, judge_url, seat):
    """Voted on meanwhile, as if in another tab: neither page nor form may bring the old pair back."""
    page.goto(judge_url)
    press(page, "a")
    settle(page, 1)
    left_behind = on_screen(page)
    page.get_by_role("link", name="My votes").click()
    expect(page.get_by_role("heading", name="My votes")).to_be_visible()
    cast_vote(judge=seat.judge, code=left_behind, ballot=Ballot("tie"))

    page.go_back()

    settle(page, 2)
    shown = on_screen(page)
    assert shown == Matchup.objects.get(state="open").code != left_behind
    assert page.locator("#ballot [name=code]").input_value() == shown
    press(page, "d")
    settle(page, 3)
    assert list(Vote.objects.order_by("id").values_list("outcome", flat=True)) == ["left", "tie", "right"]
    assert Vote.objects.get(outcome="right").matchup.code == shown


def test_a_page_that_stood_still_meanwhile_catches_up(page, judge_url, seat):
    """Some browsers go back to the page as it was left, script and all."""
    page.goto(judge_url)
    ready(page)
    page.wait_for_load_state("networkidle")
    before = on_screen(page)
    cast_vote(judge=seat.judge, code=before, ballot=Ballot("tie"))

    page.evaluate("window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")

    expect(page.locator(".pair")).not_to_have_attribute("data-code", before)
    settle(page, 1)
    assert on_screen(page) == Matchup.objects.get(state="open").code


@pytest.mark.provokes("net::ERR_FAILED")
def test_an_answer_lost_on_its_way_back_does_not_double_the_vote(page, judge_url, seat):
    page.goto(judge_url)
    page.wait_for_load_state("networkidle")
    lost = []

    def lose_the_answer(route):
        if not lost:
            lost.append(route.fetch())  # the server takes the vote in; the page never hears of it
            route.abort()
        else:
            route.continue_()

    page.route(VOTES, lose_the_answer)
    press(page, "a")

    settle(page, 1)
    assert lost[0].status == 200
    assert Vote.objects.count() == 1


def test_key_repeat_modifiers_and_typing_do_not_vote(page, judge_url, seat):
    page.goto(judge_url)
    ready(page)
    for combination in ("Control+a", "Alt+d", "Meta+s", "Shift+F"):
        page.keyboard.press(combination)
    page.evaluate("document.dispatchEvent(new KeyboardEvent('keydown', {key: 'a', repeat: true, bubbles: true}))")
    page.keyboard.press("x")
    page.locator("#report [name=note]").fill("")
    page.locator("#report [name=note]").press_sequentially("adsf")

    assert page.locator("#report [name=note]").input_value() == "adsf"
    page.locator("#report [name=note]").blur()
    press(page, "d")
    settle(page, 1)
    assert outcomes() == ["right"]


def test_the_button_pressed_keeps_the_focus_and_a_held_enter_key_votes_once(page, judge_url, seat, two_frames):
    page.goto(judge_url)
    ready(page)
    page.wait_for_load_state("networkidle")
    before = on_screen(page)
    page.locator("button[value=right]").focus()

    page.keyboard.down("Enter")
    expect(page.locator(".pair")).not_to_have_attribute("data-code", before)
    settle(page, 1)
    ready(page)
    for _ in range(5):
        two_frames()
        page.keyboard.down("Enter")  # down already: the keyboard repeats it
    page.keyboard.up("Enter")

    expect(page.locator("button[value=right]")).to_be_focused()
    settle(page, 1)
    press(page, "Enter")
    settle(page, 2)
    assert list(Vote.objects.values_list("outcome", flat=True)) == ["right", "right"]


@pytest.mark.parametrize(
    ("key", "code", "shift", "outcome", "breaks"),
    [
        ("ф", "KeyA", "false", "left", 0),  # Cyrillic letters: the key where A is
        ("α", "KeyA", "false", "left", 0),
        ("q", "KeyA", "false", None, 0),  # AZERTY: what is printed on the key counts
        ("A", "KeyA", "false", "left", 0),  # Caps Lock
        ("2", "Digit2", "true", None, 0b010),  # AZERTY has its digits above
    ],
)
def test_keys_work_on_other_keyboards(page, judge_url, seat, key, code, shift, outcome, breaks):
    page.goto(judge_url)
    ready(page)
    page.wait_for_load_state("networkidle")
    about = f"{{ key: '{key}', code: '{code}', shiftKey: {shift}, bubbles: true }}"

    page.evaluate(f"document.body.dispatchEvent(new KeyboardEvent('keydown', {about}))")
    if outcome is None:
        press(page, "d")
    settle(page, 1)

    assert (Vote.objects.get().outcome, Vote.objects.get().left_breaks) == (outcome or "right", breaks)


def test_the_line_below_says_what_happened_and_which_vote_undo_takes_back(page, judge_url, seat):
    page.goto(judge_url)
    sentence, back = page.locator("#said"), page.get_by_role("button", name="Undo (the last answer)")
    expect(sentence).to_be_empty()
    press(page, "a")
    expect(sentence).to_have_text("Voted left on the last pair.")
    press(page, "s")
    settle(page, 2)

    page.keyboard.press("z")
    expect(sentence).to_have_text("Vote withdrawn. Before it you voted left.")
    page.keyboard.press("x")
    page.locator("#report button").click()
    expect(sentence).to_have_text("Reported. Curators will look at it. Before it you voted left.")
    expect(back).to_be_visible()
    ready(page)
    page.keyboard.press("z")
    expect(sentence).to_have_text("Vote withdrawn.")
    expect(back).to_be_hidden()


def test_under_a_tall_drawing_the_keys_stay_in_sight(page, judge_url, seat):
    Sample.objects.update(drawing="\n".join(["#" * 20] * 110))
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(judge_url)
    ready(page)

    assert page.evaluate("document.documentElement.scrollHeight") > 2000
    for way in (0, 500, 10**6):
        page.evaluate(f"window.scrollTo(0, {way})")
        expect(page.locator("button[value=left]")).to_be_in_viewport(ratio=1)
    page.locator("button[value=left]").click()
    settle(page, 1)
    assert page.evaluate("window.scrollY") == 0  # the next pair is seen from its top


def test_reports_and_marks_by_keyboard(page, judge_url, seat):
    page.goto(judge_url)
    ready(page)
    reported = on_screen(page)
    page.keyboard.press("x")
    page.locator("#report [name=reason]").select_option("signed")
    page.locator("#report button").click()
    expect(page.locator(".pair")).not_to_have_attribute("data-code", reported)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("2")
    page.keyboard.press("3")
    press(page, "a")
    settle(page, 1)

    assert Report.objects.get().matchup.code == reported
    assert (Vote.objects.get().left_breaks, Vote.objects.get().right_breaks) == (0, 0b110)
    assert page.locator("#marks input:checked").count() == 0


def ring_overlap(page, box):
    """Pixels by which the ring around the focused summary of a box covers the first row below it."""
    ring = page.evaluate(
        """(box) => { const summary = document.querySelector(`${box} summary`), style = getComputedStyle(summary);
      if (document.activeElement !== summary) return NaN;
      return summary.getBoundingClientRect().bottom + parseFloat(style.outlineWidth) + parseFloat(style.outlineOffset) }""",
        box,
    )
    return ring - page.locator(f"{box} kbd").first.bounding_box()["y"]


def test_help_and_zoom(page, judge_url, seat):
    page.goto(judge_url)
    ready(page)
    size = "parseFloat(getComputedStyle(document.querySelector('.art')).fontSize)"
    before = page.evaluate(size)

    page.keyboard.press("+")
    assert page.evaluate(size) > before
    page.keyboard.press("?")
    expect(page.get_by_text("A tie: both are good")).to_be_visible()
    assert ring_overlap(page, "#keys-box") <= 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_with_every_box_open_and_a_vote_to_undo_no_rule_is_broken(page, judge_url, seat, axe, scheme):
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.goto(judge_url)
    press(page, "a")
    settle(page, 1)
    page.locator("#open-report").click()
    page.locator("#open-keys").click()
    page.locator("#marks summary").click()

    assert page.locator("details[open]").count() == 3
    assert axe() == []
    names = ["Left drawing, Courier", "Right drawing, Fira"]
    assert all(page.get_by_role("img", name=name, exact=True).count() == 1 for name in names)
    assert page.get_by_role("status").filter(has_text="Voted left on the last pair.").count() == 1


@pytest.mark.parametrize("width", [1280, 360])
def test_pictures_grow_inside_their_half_and_scroll_together(page, picture_url, axe, width):
    page.set_viewport_size({"width": width, "height": 740})
    page.goto(picture_url)
    ready(page)
    look = """[...document.querySelectorAll('.picture')].map((frame) => [
        frame.clientWidth, frame.clientHeight, frame.firstChild.clientWidth, frame.firstChild.clientHeight])"""
    before = page.evaluate(look)

    page.keyboard.press("+")
    page.keyboard.press("+")

    for (_, _, wide, tall), (frame_wide, frame_tall, wider, taller) in zip(before, page.evaluate(look), strict=True):
        assert (wider / wide, taller / tall) == pytest.approx((2, 2), rel=0.05)  # scroll bars take a little
        assert frame_wide < wider and frame_tall < taller
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    middle = """() => [...document.querySelectorAll('.picture')].every(
        (frame) => Math.abs(frame.scrollLeft * 2 + frame.clientWidth - frame.scrollWidth) < 4)"""
    page.wait_for_function(middle)  # sides follow each other a frame later
    page.evaluate("document.querySelector('.picture').scrollTo(30, 40)")
    page.wait_for_function(
        """() => [...document.querySelectorAll('.picture')].every(
            (frame) => frame.scrollLeft === 30 && frame.scrollTop === 40)"""
    )
    assert axe() == []
    press(page, "a")  # the next pair is as large, and begins in its middle
    settle(page, 1)
    ready(page)
    page.wait_for_function(middle)
    assert [row[2] for row in page.evaluate(look)] == pytest.approx([2 * row[2] for row in before], rel=0.05)


@pytest.mark.provokes("net::ERR_FAILED")
def test_a_picture_that_fails_is_loaded_again_before_a_vote_is_taken(page, picture_url, two_frames):
    failed, held = [], []

    def fail_twice(route):
        if len(failed) == 2:
            held.append(route)
        else:
            failed.append(route.request.url)
            route.abort()

    picture = f"**/judge/pair/{Matchup.objects.get(state='open').code}/right/"
    page.route(picture, fail_twice)
    page.goto(picture_url, wait_until="domcontentloaded")

    expect(page.get_by_text("One of the drawings did not load. Trying again")).to_be_visible()
    page.wait_for_function("() => document.querySelector('[data-side=left] img').complete")
    page.keyboard.press("a")
    while not held:
        expect(page.locator("button[value=left]")).to_be_disabled()
        two_frames()
    held.pop().continue_()

    ready(page)
    expect(page.locator("#unloaded")).to_be_hidden()
    assert page.evaluate("[...document.querySelectorAll('.pair img')].every((image) => image.naturalWidth > 0)")
    assert (len(failed), Vote.objects.count()) == (2, 0)
    press(page, "a")
    settle(page, 1)


@pytest.mark.provokes("net::ERR_FAILED")
def test_a_prefetched_picture_that_failed_locks_its_pair_too(page, picture_url):
    """And a pair that stays so can be reported; the next one is as good as any."""
    page.goto(picture_url)
    ready(page)
    page.wait_for_load_state("networkidle")
    broken = Matchup.objects.get(state="queued").code
    page.route(f"**/judge/pair/{broken}/left/", lambda route: route.abort())
    page.reload()
    press(page, "a")
    settle(page, 1)

    expect(page.locator("#unloaded")).to_be_visible()
    assert on_screen(page) == broken
    page.keyboard.press("d")
    page.keyboard.press("x")
    page.locator("#report [name=reason]").select_option("broken")
    page.locator("#report button").click()
    expect(page.locator(".pair")).not_to_have_attribute("data-code", broken)
    ready(page)

    expect(page.locator("#unloaded")).to_be_hidden()
    assert Vote.objects.count() == 1
    assert Report.objects.get().matchup.code == broken


def test_voting_unlocks_only_when_both_sides_are_drawn(page, picture_url, two_frames):
    held = []
    page.route("**/judge/pair/*/right/", lambda route: held.append(route))
    page.goto(picture_url, wait_until="domcontentloaded")
    expect(page.locator("main.scripted")).to_be_visible()

    page.wait_for_function("() => document.querySelector('[data-side=left] img').complete")
    page.evaluate("document.fonts.ready.then(() => null)")
    two_frames()
    expect(page.locator("button[value=left]")).to_be_disabled()
    page.keyboard.press("a")
    for route in held:
        route.continue_()
    page.unroute("**/judge/pair/*/right/")

    ready(page)
    assert Vote.objects.count() == 0
    press(page, "a")
    settle(page, 1)


def test_both_sides_get_one_scale_and_three_faces(page, judge_url, seat):
    Sample.objects.filter(pk__in=Matchup.objects.filter(state="open").values("left_sample")).update(
        drawing="\n".join(["#" * 150] * 50)
    )
    page.goto(judge_url)
    ready(page)

    sizes = page.evaluate("[...document.querySelectorAll('.art')].map((art) => getComputedStyle(art).fontSize)")
    widths = page.evaluate(
        "[...document.querySelectorAll('[data-side=left] .art')].map((art) => art.scrollWidth / 150)"
    )
    boxes = page.evaluate("[...document.querySelectorAll('.art')].map((art) => art.getBoundingClientRect().toJSON())")
    middles = [box["top"] + box["height"] / 2 for box in boxes]

    assert len(set(sizes)) == 1
    assert max(widths) - min(widths) < 0.1
    assert middles[:3] == pytest.approx(middles[3:], abs=1)
    assert page.evaluate("[...document.fonts].filter((face) => face.status === 'loaded').length") >= 3


def test_the_narrower_drawing_does_not_hold_the_wider_one_back(page, judge_url, seat):
    matchup = Matchup.objects.get(state="open")
    Sample.objects.filter(pk=matchup.left_sample_id).update(drawing="#" * 400)
    Sample.objects.filter(pk=matchup.right_sample_id).update(drawing="#" * 110)
    page.set_viewport_size({"width": 700, "height": 800})
    page.goto(judge_url)
    ready(page)
    end = page.evaluate(
        "(() => { const art = document.querySelector('.art'); return art.scrollWidth - art.clientWidth; })()"
    )

    page.evaluate(f"document.querySelector('.art').scrollLeft = {end}")
    page.wait_for_function("() => document.querySelectorAll('.art')[3].scrollLeft > 0")
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    lefts = page.evaluate("[...document.querySelectorAll('.art')].map((art) => art.scrollLeft)")
    assert lefts[:3] == [end] * 3
    assert 0 < lefts[3] < end


def test_wide_drawings_scroll_together(page, judge_url, seat):
    Sample.objects.update(drawing="\n".join(["#" * 400] * 20))
    page.set_viewport_size({"width": 700, "height": 800})
    page.goto(judge_url)
    ready(page)

    page.evaluate("document.querySelector('.art').scrollLeft = 60")

    page.wait_for_function("() => [...document.querySelectorAll('.art')].every((art) => art.scrollLeft === 60)")
    assert page.locator(".art").count() == 6


def test_after_a_long_streak_a_break_is_suggested_once(page, judge_url, seat):
    page.goto(judge_url)
    page.evaluate("sessionStorage.setItem('streak', JSON.stringify({ at: Date.now(), count: 58 }))")
    press(page, "a")
    expect(page.locator("#rest")).to_be_hidden()
    press(page, "d")
    expect(page.get_by_text("A short break keeps the eye fresh")).to_be_visible()
    press(page, "s")
    expect(page.locator("#rest")).to_be_hidden()
    settle(page, 3)


def test_a_vote_is_undone_from_the_list_whose_buttons_are_short_to_see_and_long_to_hear(page, judge_url, seat, axe):
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(judge_url)
    first, *_ = (press(page, "a"), press(page, "d"))
    settle(page, 2)
    page.get_by_role("link", name="My votes").click()
    buttons = page.get_by_role("button", name="Change (Draw thing")

    assert buttons.count() == 2
    assert all(button.bounding_box()["width"] < 120 for button in buttons.all())
    assert axe() == []
    buttons.last.click()

    expect(page.locator(".pair")).to_have_attribute("data-code", first)
    assert Vote.objects.get(withdrawn_at=None).outcome == "right"


@pytest.mark.provokes("409 (Conflict)")
def test_a_run_closed_while_looking_says_so(page, judge_url, seat):
    page.goto(judge_url)
    ready(page)
    page.wait_for_load_state("networkidle")
    Run.objects.update(judging_state="closed")

    page.keyboard.press("a")

    expect(page.get_by_text("Judging of this run is closed")).to_be_visible()
    assert Vote.objects.count() == 0


def test_without_script_the_forms_do_it_all(browser, live_server, client, seat, judge_url):
    client.force_login(seat.judge)
    context = browser.new_context(java_script_enabled=False)
    context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}])
    page = context.new_page()
    page.goto(judge_url)
    first = on_screen(page)

    page.locator("summary", has_text="Breaks in a font?").click()
    page.locator("[name=left_breaks][value='1']").check()
    page.get_by_role("button", name="left", exact=False).first.click()
    settle(page, 1)
    page.get_by_role("button", name="Undo").click()
    assert on_screen(page) == first
    page.locator("summary", has_text="Report this pair").click()
    page.get_by_role("button", name="Report and continue").click()
    expect(page.get_by_text("Curators will look at it")).to_be_visible()

    assert on_screen(page) != first
    assert Vote.objects.get().left_breaks == 1
    context.close()


def test_on_a_phone_a_long_count_leaves_room_for_its_bar(page, judge_url, seat):
    Seat.objects.update(quota=None, voted=987)
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(judge_url)
    ready(page)

    expect(page.locator("#count")).to_have_text("987 judged · round 165: 3 of 6")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert page.locator("#bar").bounding_box()["width"] >= 16
    assert page.locator(".topline").bounding_box()["height"] < 40  # one line


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_nothing_is_cut_off(page, judge_url, seat, axe, scheme):
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(judge_url)
    ready(page)

    left, right = (page.locator(f".half[data-side={side}]").bounding_box() for side in ("left", "right"))
    bar = page.locator(".ballot").bounding_box()
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert right["y"] >= left["y"] + left["height"]
    assert bar["y"] + bar["height"] == 740
    assert all(box["height"] >= 44 for box in (b.bounding_box() for b in page.locator(".keys button").all()))
    assert axe() == []
    page.get_by_role("button", name="both bad").click()
    settle(page, 1)
    undo, stage = page.locator("#undo"), page.locator("#stage")
    expect(undo).to_be_in_viewport(ratio=1)  # without a way down to the end of the page
    assert undo.bounding_box()["y"] < stage.bounding_box()["y"]
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert axe() == []
