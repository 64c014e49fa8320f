"""The live page in a real browser: sliders run the mechanism again, at once, offline, by mouse, finger and key."""

import csv
import io

import numpy as np
import pytest
import yaml

import pliant as pl
from pliant.gallery.falling_chain.system import falling_chain
from pliant.live.page import page as write_page

DESK, PHONE, ASIDE = (1280, 800), (390, 844), (844, 390)
MARKUP = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
METHOD = pl.DOP853(rtol=1e-9, atol=1e-12)


def swing(name="swing", body="rod"):
    system = pl.System(name, gravity=(0.0, -9.81))
    damping = pl.Parameter("damping", 0.1, "N m s", 0.0, 1.0)
    system.add(body, pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute(angle=0.4, damper=pl.Damper(damping)))
    return system


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Files by name: each is written once."""
    folder = tmp_path_factory.mktemp("pages")
    write_page(swing(), folder / "swing.html", 2.0, method=METHOD)
    write_page(swing(), folder / "slow.html", 60000.0, method=pl.DOP853(rtol=1e-10, atol=1e-12))
    write_page(swing(f"{MARKUP} & 'so'", MARKUP), folder / "markup.html", 0.5, method=METHOD)
    write_page(falling_chain(), folder / "chain.html", 1.0, method=pl.DOP853(rtol=1e-6, atol=1e-9))
    return folder


@pytest.fixture
def opened(browser, pages):
    """Opens a page offline; at the end there must have been no complaint and no request but for the file itself."""
    contexts = []

    def show(name, size=DESK, touch=False, link="", **options):
        view = {"width": size[0], "height": size[1]}
        context = browser.new_context(viewport=view, offline=True, has_touch=touch, is_mobile=touch, **options)
        page = context.new_page()
        said, asked = [], []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: asked.append(request.url))
        address = (pages / f"{name}.html").as_uri()
        page.goto(address + link)
        _until(page, "Boolean(window.pliant && pliant.ready && pliant.frames > 0)")
        contexts.append((context, said, asked, address))
        return page

    yield show
    for context, said, asked, address in contexts:
        context.close()
        assert said == []
        assert [url for url in asked if not url.startswith("blob:")] in ([address], [address + _fragment(asked)])


def _fragment(asked):
    return asked[0][asked[0].find("#") :] if "#" in asked[0] else ""


def _until(page, condition, tries=500):
    """Waits by asking from outside: the page's own policy lets nothing evaluate text inside it."""
    for _ in range(tries):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(20)
    raise AssertionError(f"never came true: {condition}")


def _settled(page):
    _until(page, "!pliant.live.runner.busy && !pliant.live.runner.next && !pliant.dirty")


def _set(page, name, value):
    page.evaluate("([name, value]) => pliant.set(name, value)", [name, value])
    _settled(page)


def _end(page):
    return np.array(page.evaluate("[...pliant.run.raw.state.slice(-pliant.run.recipe.n)]"))


def _boxes(page):
    names = "header, #message, #chips, #side, #sliders, #deeds, main, #view, #touching, #ledger, #plots, .plot, .canvas, footer"
    boxes = "names => [...document.querySelectorAll(names)].map(e => JSON.stringify(e.getBoundingClientRect()))"
    return page.evaluate(boxes, f"{names}, #track, #clock, #speed")


def test_a_slider_dragged_by_the_mouse_runs_again_while_it_moves(opened):
    page = opened("swing")
    before, runs = _end(page), page.evaluate("pliant.runs")
    box = page.get_by_label("rod.angle", exact=True).bounding_box()
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    page.mouse.down()
    for part in (0.55, 0.6, 0.65, 0.7):
        page.mouse.move(box["x"] + part * box["width"], box["y"] + 0.5 * box["height"])
        _settled(page)
    assert page.evaluate("pliant.runs") > runs + 1  # before it is let go
    page.mouse.up()
    _settled(page)
    assert np.max(np.abs(_end(page) - before)) > 0.01
    angle = page.evaluate("pliant.sliders.values[1]")
    assert angle > 0.6
    assert page.evaluate("pliant.run.raw.state[0]") == pytest.approx(angle, rel=1e-12)


def test_a_slider_dragged_by_a_finger_runs_again(opened):
    page = opened("swing", PHONE, touch=True)
    before = _end(page)
    box = page.get_by_label("damping", exact=True).bounding_box()
    fingers = page.context.new_cdp_session(page)
    y = box["y"] + 0.5 * box["height"]
    for kind, part in (("touchStart", 0.1), ("touchMove", 0.3), ("touchMove", 0.6), ("touchMove", 0.8), ("touchEnd", None)):
        points = [] if part is None else [{"x": box["x"] + part * box["width"], "y": y}]
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    _settled(page)
    assert page.evaluate("pliant.sliders.values[0]") > 0.5
    assert np.max(np.abs(_end(page) - before)) > 0.01


def test_a_run_of_the_page_ends_where_simulate_ends(opened):
    page = opened("swing")
    _set(page, "damping", 0.37)
    there = pl.simulate(swing(), 2.0, method=METHOD, parameters={"damping": 0.37}, save=[0.0, 2.0])
    end = page.evaluate("[pliant.run.raw.state.at(-pliant.run.recipe.n), pliant.run.time.at(-1)]")
    assert end == pytest.approx([there["rod.angle"][-1], 2.0], abs=1e-8)


def test_a_link_restores_the_sliders_and_the_run(opened):
    page = opened("swing")
    _set(page, "damping", 0.25)
    _set(page, "rod.angle", 1.234567890123)
    _until(page, "location.hash.includes('1.234567890123')")
    other = opened("swing", link=page.evaluate("location.hash"))
    assert other.evaluate("pliant.sliders.values") == [0.25, 1.234567890123]
    assert np.array_equal(_end(page), _end(other))
    other.get_by_role("button", name="reset all").click()
    _settled(other)
    _until(other, "location.hash === ''")
    assert other.evaluate("pliant.sliders.values") == [0.1, 0.4]


@pytest.mark.parametrize("link", ["#nonsense", "#damping=heavy", "#damping=7", "#%E0%A4%A=1", "#<img src=x onerror=alert(1)>=1"])
def test_what_a_link_says_wrongly_is_ignored_and_said(opened, link):
    page = opened("swing", link=link)
    assert page.evaluate("pliant.sliders.values") == [0.1, 0.4]
    assert "ignored in the link" in page.locator("#said").inner_text()


def test_a_long_run_says_how_far_it_is_and_can_be_stopped(opened):
    page = opened("slow")
    page.evaluate("pliant.set('damping', 0)")
    stop = page.get_by_role("button", name="stop")
    stop.wait_for(state="visible", timeout=5000)
    assert "s of 60000 s" in page.locator("#running").inner_text()
    stop.click()
    _settled(page)
    assert 0.0 < page.evaluate("pliant.run.end") < 60000.0
    assert "stopped" in page.locator("#said").inner_text()
    page.get_by_role("button", name="reset all").click()
    _until(page, "pliant.run.end === 60000")


def test_newer_values_do_not_wait_for_a_long_run(opened):
    page = opened("slow")
    page.evaluate("pliant.set('damping', 0)")
    page.get_by_role("button", name="stop").wait_for(state="visible", timeout=5000)
    page.evaluate("pliant.set('damping', 1)")
    _settled(page)
    assert page.evaluate("[pliant.run.end, pliant.run.values[0]]") == [60000, 1]


def test_a_run_is_kept_to_compare_with(opened):
    page = opened("swing")
    page.evaluate("pliant.seek(0.5)")
    page.get_by_role("button", name="keep to compare").click()
    kept = page.evaluate("pliant.pinned.values")
    _set(page, "rod.angle", 1.0)
    assert page.evaluate("[pliant.pinned.values, pliant.run.values]") == [kept, [0.1, 1.0]]
    apart = "Math.hypot(...pliant.view.ghost.points[0].slice(-3).map((x, k) => x - pliant.mechanism.points[0].at(k - 3)))"
    assert page.evaluate(apart) > 0.1
    assert page.get_by_role("button", name="keep to compare").get_attribute("aria-pressed") == "true"
    page.keyboard.press("k")
    assert page.evaluate("pliant.pinned") is None


def test_time_camera_window_and_plots_stay_when_a_run_changes(opened):
    page = opened("swing")
    page.get_by_role("button", name="balance error").click()
    page.evaluate("pliant.seek(1.25); pliant.view.camera.drag(30, 20); pliant.show(0.5, 1.0)")
    state = "[pliant.t, pliant.view.camera.pan, pliant.window, pliant.plots.length, pliant.run.panels.map(p => p.shown)]"
    before = page.evaluate(state)
    _set(page, "rod.angle", 1.0)
    assert page.evaluate(state) == before


@pytest.mark.parametrize("size", [DESK, PHONE, ASIDE])
def test_nothing_moves_on_the_page_when_runs_are_swapped(opened, size):
    page = opened("chain", size, touch=size != DESK)
    page.evaluate("pliant.seek(0.6)")
    _settled(page)
    before = _boxes(page)
    for value in (0.4, 0.3, -0.7):
        _set(page, "a.angle", value)
        assert _boxes(page) == before
    wide, high = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
    assert wide <= size[0] and high <= size[1]


@pytest.mark.parametrize("size", [DESK, PHONE, ASIDE])
def test_every_control_is_in_sight_and_nothing_lies_over_another(opened, size):
    page = opened("chain", size, touch=size != DESK)
    parts = {name: page.locator(name).bounding_box() for name in ("header", "#side", "#view", "#plots", "footer")}
    for name, box in parts.items():
        assert (
            box["x"] >= 0 and box["y"] >= 0 and box["x"] + box["width"] <= size[0] + 1 and box["y"] + box["height"] <= size[1] + 1
        ), name
        for other, there in parts.items():
            over = min(box["x"] + box["width"], there["x"] + there["width"]) - max(box["x"], there["x"])
            under = min(box["y"] + box["height"], there["y"] + there["height"]) - max(box["y"], there["y"])
            assert name == other or over <= 1 or under <= 1, (name, other)
    assert parts["#view"]["width"] > 0.35 * size[0] and parts["#view"]["height"] > 0.2 * size[1]
    page.get_by_role("button", name="Sliders").click()
    page.wait_for_timeout(100)
    grown = page.locator("#view").bounding_box()
    assert grown["width"] * grown["height"] > parts["#view"]["width"] * parts["#view"]["height"]
    assert page.evaluate("pliant.view.width === document.getElementById('view').clientWidth")


def test_the_table_has_the_rows_of_the_run(opened):
    page = opened("swing")
    _set(page, "damping", 0.5)
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    assert download.value.suggested_filename == "swing.csv"
    rows = list(csv.reader(io.StringIO(download.value.path().read_text())))
    there = np.array(rows[1:], dtype=float)
    assert rows[0][0] == "t" and "q rod.angle" in rows[0]
    assert np.array_equal(there[:, 0], page.evaluate("[...pliant.run.time]"))
    n = page.evaluate("pliant.run.recipe.n")
    state = np.array(page.evaluate("[...pliant.run.raw.state]")).reshape(-1, n)
    assert np.array_equal(there[:, rows[0].index("q rod.angle")], state[:, 0])


def test_the_picture_can_be_taken_away(opened):
    page = opened("swing")
    with page.expect_download() as download:
        page.get_by_role("button", name="PNG").click()
    assert download.value.path().read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_the_model_can_be_taken_away_with_the_present_values(opened):
    page = opened("swing")
    _set(page, "damping", 1e-7)
    with page.expect_download() as download:
        page.get_by_role("button", name="YAML").click()
    text = download.value.path().read_text()
    assert yaml.safe_load(text)["define"]["damping"]["value"] == "1.0e-7 N m s"
    assert "# in the page: rod.angle = 0.4 rad" in text


def test_the_page_is_worked_by_keys_alone(opened):
    page = opened("swing")
    page.get_by_role("slider", name="rod.angle").focus()
    before = page.evaluate("[pliant.t, pliant.sliders.values[1]]")
    page.keyboard.press("ArrowRight")
    _settled(page)
    t, angle = page.evaluate("[pliant.t, pliant.sliders.values[1]]")
    assert t == before[0] and angle > before[1]  # a slider's key is no key of the player
    page.keyboard.press("End")
    _settled(page)
    assert page.evaluate("pliant.sliders.values[1] === pliant.sliders.rows[1].slider.high")
    page.get_by_label("rod.angle, °").fill("45")
    page.keyboard.press("Enter")
    _settled(page)
    assert page.evaluate("pliant.run.values[1]") == pytest.approx(np.pi / 4)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "reset rod.angle"
    page.keyboard.press("Space")
    _settled(page)
    assert page.evaluate("[pliant.sliders.values[1], pliant.playing]") == [0.4, False]


def test_every_control_has_a_name(opened):
    page = opened("chain")
    has_none = "e => !(e.ariaLabel || e.textContent.trim() || e.labels?.length)"
    unnamed = f"[...document.querySelectorAll('button, input, select')].filter({has_none}).map(e => e.outerHTML)"
    assert page.evaluate(unnamed) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_on_its_paper(opened, scheme):
    page = opened("chain", color_scheme=scheme)
    names = ("--ink", "--quiet", "--alarm", "--paper", "--panel")
    colours = {
        name: page.evaluate("n => getComputedStyle(document.documentElement).getPropertyValue(n).trim()", name) for name in names
    }

    def light(colour):
        channels = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        return np.dot([0.2126, 0.7152, 0.0722], [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels])

    for text in names[:3]:
        for paper in names[3:]:
            high, low = sorted((light(colours[text]), light(colours[paper])), reverse=True)
            assert (high + 0.05) / (low + 0.05) >= 4.5, (text, paper)


def test_who_wants_less_motion_gets_no_loop_and_nothing_plays_by_itself(opened):
    page = opened("swing", reduced_motion="reduce")
    assert not page.locator("#loop").is_checked()
    page.wait_for_timeout(200)
    assert page.evaluate("[pliant.t, pliant.playing]") == [0, False]


def test_names_with_markup_do_nothing(opened):
    page = opened("markup")
    assert page.title() == page.locator("#name").inner_text() == f"{MARKUP} & 'so'"
    assert page.evaluate("[document.scripts.length, document.images.length]") == opened("swing").evaluate(
        "[document.scripts.length, 0]"
    )
    assert f"{MARKUP}.angle" in page.locator("#sliders").inner_text()
    _set(page, f"{MARKUP}.angle", 0.7)
    page.get_by_role("button", name="balance error").click()
    page.get_by_role("button", name="keep to compare").click()
    _settled(page)


def test_the_ledger_closes(opened):
    page = opened("chain")
    for t in (0.1, 0.55, 1.0):
        page.evaluate("t => pliant.seek(t)", t)
        _settled(page)
        first, second = (
            sum(
                page.evaluate(
                    "k => [...document.querySelectorAll('#ledger .bar')[k].children].map(e => parseFloat(e.style.width))", k
                )
            )
            for k in (0, 1)
        )
        assert first == pytest.approx(second, abs=0.1) and first > 10.0  # percent
    assert "unexplained" in page.locator("#ledger output").inner_text()


def test_a_tip_is_pulled_by_the_mouse_and_the_run_comes_back(opened):
    page = opened("swing")
    page.evaluate("pliant.seek(0.3)")
    _settled(page)
    box, (x, y) = page.locator("#view").bounding_box(), page.evaluate("pliant.view.camera.project(pliant.tip(0)).slice(0, 2)")
    page.mouse.move(box["x"] + x, box["y"] + y)
    page.mouse.down()
    page.mouse.move(box["x"] + x - 60, box["y"] + y - 60, steps=3)
    _until(page, "pliant.hand.going && pliant.t > 0.4")
    page.mouse.up()
    then = page.evaluate("pliant.t")
    _until(page, f"pliant.t > {then} + 0.05")  # goes on freely
    page.keyboard.press("Space")
    assert page.evaluate("pliant.hand.going") is False
    page.get_by_role("button", name="run again").click()
    _settled(page)
    assert page.evaluate("[pliant.run.begin, pliant.run.end, pliant.hand.going]") == [0, 2, False]


def test_a_drag_beside_the_tips_moves_the_camera_as_ever(opened):
    page = opened("swing")
    box = page.locator("#view").bounding_box()
    page.mouse.move(box["x"] + 60, box["y"] + box["height"] - 150)
    page.mouse.down()
    page.mouse.move(box["x"] + 120, box["y"] + box["height"] - 130, steps=3)
    page.mouse.up()
    assert page.evaluate("pliant.view.camera.pan") == [60, 20]
    assert page.evaluate("pliant.hand.going") is False


def test_a_refusal_is_said_and_the_run_before_stays(opened):
    page = opened("swing")
    before = _end(page)
    page.evaluate("pliant.live.runner.hear({ id: pliant.live.runner.id, refused: 'with these values <b>nothing</b> resists' })")
    assert page.locator("#said").inner_text() == "with these values <b>nothing</b> resists"
    assert np.array_equal(_end(page), before)
    _set(page, "damping", 0.3)
    assert page.locator("#said").inner_text() == ""
