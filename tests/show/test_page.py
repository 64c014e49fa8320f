"""The page in a real browser: it plays, it scrubs, it asks nothing of anybody."""

import io
from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.show.scene import Scene

SINGLE = 3e-6  # m: what single precision leaves of a length of a few metres, interpolated


@pytest.fixture
def open_page(browser, tmp_path):
    """Opens a result offline; at the end there must have been no complaint and no request but for the file itself."""
    opened = []

    def show(result, scheme="light", **options):
        path = pl.player.write(result, tmp_path / "page.html", **options)
        context = browser.new_context(viewport={"width": 1280, "height": 720}, color_scheme=scheme, offline=True)
        page = context.new_page()
        said, asked = [], []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri())
        _until(page, "window.pliant && pliant.frames > 0")
        opened.append((context, said, asked, path.as_uri()))
        return page

    yield show
    for context, said, asked, address in opened:
        context.close()
        assert said == []
        assert asked == [address]


def _until(page, condition):
    """Waits by asking from outside: the page's own policy lets nothing evaluate text inside it."""
    for _ in range(300):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(20)
    raise AssertionError(f"never came true: {condition}")


def _drawn(page):
    _until(page, "!pliant.dirty")


def _seek(page, t):
    page.evaluate("t => pliant.seek(t)", t)
    _drawn(page)


def _picture(page):
    return page.evaluate("document.getElementById('view').toDataURL()")


def _points(page):
    return [np.array(points) for points in page.evaluate("pliant.mechanism.points.map(p => [...p])")]


def _pixel(page, canvas, x, y):
    """Colour on the screen at a place of a canvas."""
    from PIL import Image

    box = page.locator(canvas).bounding_box()
    shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    return shot.getpixel((int(box["x"] + x), int(box["y"] + y)))


def test_frames_advance_on_play_and_stop_on_pause(open_page, chain):
    page = open_page(chain)
    before, frames = _picture(page), page.evaluate("pliant.frames")
    page.keyboard.press("Space")
    _until(page, f"pliant.frames > {frames} + 5 && pliant.t > 0.02")
    assert _picture(page) != before
    page.get_by_role("button", name="pause").click()
    _drawn(page)
    stopped = page.evaluate("[pliant.t, pliant.frames]")
    page.wait_for_timeout(100)
    assert page.evaluate("[pliant.t, pliant.frames]") == stopped


def test_scrubbing_moves_the_mechanism_to_where_python_has_it(open_page, chain):
    page = open_page(chain)
    start = _points(page)
    page.locator("#scrub").fill("6250")
    _drawn(page)
    t = page.evaluate("pliant.t")
    assert t == pytest.approx(0.5, abs=1e-9)
    for there, here, before in zip(Scene(chain).positions(np.array([t])), _points(page), start, strict=True):
        assert np.max(np.abs(there[0].ravel() - here)) < SINGLE
        assert np.max(np.abs(here - before)) > 0.1


@pytest.mark.parametrize("name", ["chain", "arm", "crank", "base", "corner"])
def test_magnified_deformation_is_the_same_as_in_python(open_page, name, request):
    result = request.getfixturevalue(name)
    page = open_page(result, scale=2.0)
    page.locator("#scale").fill("12")
    for part in (0.31, 0.83):
        t = float(result.time[0] + part * (result.time[-1] - result.time[0]))
        _seek(page, t)
        for there, here in zip(Scene(result, 12.0).positions(np.array([t])), _points(page), strict=True):
            assert np.max(np.abs(there[0].ravel() - here)) < SINGLE * 12.0


def test_a_touch_flashes_where_it_is(open_page, chain):
    page = open_page(chain)
    page.keyboard.press("n")
    _drawn(page)
    touch = chain.contacts[0]
    assert page.evaluate("pliant.t") == pytest.approx(touch.begin)
    assert touch.pair in page.locator("#touching").inner_text()
    k = list(chain.labels["pair"]).index(touch.pair)
    where = "k => pliant.view.camera.project(pliant.mechanism.contact(k).point)"
    red, green, blue = _pixel(page, "#view", *page.evaluate(where, k)[:2])
    assert red > 150 and max(green, blue) < 100
    _seek(page, 0.1)
    red, green, blue = _pixel(page, "#view", *page.evaluate(where, k)[:2])
    assert not (red > 150 and max(green, blue) < 100)
    assert page.locator("#touching").inner_text() == ""


def test_the_plots_follow_the_cursor_and_a_click_moves_it(open_page, chain):
    page = open_page(chain)
    _seek(page, 0.6)
    x = page.evaluate("pliant.plots[0].x(pliant.t)")
    first = ".plot:first-child .canvas"
    assert max(_pixel(page, first, x, 20)) < 160 < min(_pixel(page, first, x + 5, 20))  # a dark line on light paper
    shown = page.locator(".plot").first.locator(".legend b").first.inner_text()
    assert float(shown) == pytest.approx(np.interp(0.6, chain.time, chain["a.angle"]), rel=1e-3)
    box = page.locator(".plot .canvas").nth(1).bounding_box()
    page.mouse.click(box["x"] + 54 + 0.25 * (box["width"] - 62), box["y"] + 40)  # a quarter between the margins
    assert page.evaluate("pliant.t") == pytest.approx(0.2, abs=2e-3)


def test_keys_step_jump_and_change_the_speed(open_page, chain):
    page = open_page(chain)
    page.keyboard.press("End")
    assert page.evaluate("pliant.t") == 0.8
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    assert page.evaluate("pliant.t") == pytest.approx(11.0 * 0.8 / 300.0)
    speed = page.evaluate("pliant.speed")
    page.keyboard.press("ArrowUp")
    assert page.evaluate("pliant.speed") > speed == float(page.evaluate("pliant.run.speed"))


def test_plots_are_chosen_by_chips_and_lines_by_the_legend(open_page, chain):
    page = open_page(chain)
    count = page.locator(".plot").count()
    page.get_by_role("button", name="balance error").click()
    assert page.locator(".plot").count() == count + 1
    last = page.locator(".plot").last
    last.get_by_role("button", name="E - work").click()
    assert page.evaluate("pliant.plots.at(-1).shown") == [False]


def test_a_spatial_view_turns_and_a_planar_one_moves(open_page, arm, chain):
    for result, turned in ((arm, True), (chain, False)):
        page = open_page(result)
        azimuth = page.evaluate("pliant.view.camera.azimuth")
        before, box = _picture(page), page.locator("#view").bounding_box()
        page.mouse.move(box["x"] + 200, box["y"] + 200)
        page.mouse.down()
        page.mouse.move(box["x"] + 300, box["y"] + 230, steps=4)
        page.mouse.up()
        _drawn(page)
        assert (page.evaluate("pliant.view.camera.azimuth") != azimuth) == turned
        assert _picture(page) != before
        page.keyboard.press("r")
        _drawn(page)
        assert _picture(page) == before


def test_the_page_is_light_or_dark_as_the_reader_likes(open_page, chain):
    page = open_page(chain, scheme="dark")
    paper = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(paper)
    page.keyboard.press("d")
    assert page.evaluate(paper) == "rgb(255, 255, 255)" != dark


def test_nothing_is_cut_off_on_a_laptop(open_page, crank):
    """All of the page is in the window: no bar to scroll it by."""
    page = open_page(crank)
    assert page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]") == [1280, 720]


def test_a_name_with_markup_is_shown_as_it_is(open_page, chain):
    name = "</script><img src=x onerror=alert(1)> & 'so'"
    page = open_page(replace(chain, name=name))
    assert page.locator("#name").inner_text() == name
    assert page.title() == name


def test_beams_are_coloured_by_their_stress_on_request(open_page, stressed):
    """Values are those of Python, colours those of the legend, and a key switches them off and on."""
    page = open_page(stressed, scale=1.0)
    largest = stressed.sections.equivalent_stress.max("station")
    row = int(largest.sel(beam="link0").argmax("time"))
    _seek(page, float(stressed.time[row]))
    there = Scene(stressed).stresses()
    names = [body.name for body in stressed.drawing.bodies]
    for k, values in there.items():
        here = np.array(page.evaluate("k => [...pliant.mechanism.stressOf(k)]", k))
        np.testing.assert_allclose(here, values[row], rtol=1e-5, atol=1e-6 * float(largest.max()))
    k = names.index("link0")
    at = "([k, n]) => pliant.view.camera.project([...pliant.mechanism.points[k].subarray(3 * n, 3 * n + 3)])"
    n = int(np.argsort(abs(stressed.drawing.bodies[k].rest[:, 0] - 0.35))[0])  # the middle, clear of joints
    place = page.evaluate(at, [k, n])[:2]
    wanted = page.evaluate("([k, n]) => pliant.view.stressColour(pliant.mechanism.stressOf(k)[n])", [k, n])
    colour = _pixel(page, "#view", *place)
    assert max(abs(a - int(b)) for a, b in zip(colour, wanted[4:-1].split(","), strict=True)) < 25  # the stress changes along it
    page.keyboard.press("s")
    _drawn(page)
    assert not page.locator("#stress").is_checked()
    plain = page.evaluate("k => pliant.view.colour(k)", k)
    assert max(abs(a - int(plain[1 + 2 * i : 3 + 2 * i], 16)) for i, a in enumerate(_pixel(page, "#view", *place))) < 25


def test_a_page_without_stresses_has_no_switch_for_them(open_page, chain):
    page = open_page(chain)
    assert not page.locator("#stressed").is_visible()
    page.keyboard.press("s")
    _drawn(page)


@pytest.mark.parametrize(("width", "height"), [(390, 844), (844, 390), (740, 360), (568, 320), (1280, 800)])
def test_on_every_screen_mechanism_and_plots_are_in_sight_and_nothing_lies_over_the_mechanism(open_page, chain, width, height):
    page = open_page(chain, scale=3.0)
    page.set_viewport_size({"width": width, "height": height})
    _drawn(page)
    wide, high = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
    assert wide <= width and high <= height
    view, plots = (page.locator(name).bounding_box() for name in ("#view", "#plots"))
    first = page.locator(".plot").first.bounding_box()
    assert view["width"] >= 0.5 * min(width, 760) and view["height"] >= 0.5 * min(height, 500)
    assert plots["height"] >= 120 and first["y"] >= 0 and first["y"] + first["height"] <= height + 1
    for name in ("#hint", "#touching", "#magnified", "header", "footer"):
        box = page.locator(name).bounding_box()
        if box is not None:  # no keys are told of on a phone
            apart = box["y"] >= view["y"] + view["height"] - 1 or box["y"] + box["height"] <= view["y"] + 1
            assert apart or box["x"] >= view["x"] + view["width"] - 1, name
    boxes = [control.bounding_box() for control in page.locator("footer button, footer input, footer select").all()]
    seen = [(box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"]) for box in boxes if box is not None]
    assert len(seen) == 6 and all(x >= 0 and y >= 0 and right <= width and low <= height for x, y, right, low in seen)
    assert "deformation × 3" in page.locator("#magnified").inner_text()
    assert "contacts are drawn where they are" in page.locator("#magnified").inner_text()
    page.locator("#scale").fill("1")
    _drawn(page)
    assert page.locator("#magnified").inner_text() == ""


def test_all_that_moves_stays_clear_of_the_axes_and_the_scale(open_page, chain):
    """They stand in the last 40 pixels of the picture."""
    page = open_page(chain)
    for part in (0.0, 0.4, 0.8):
        _seek(page, part)
        lowest = page.evaluate(
            "Math.max(...pliant.mechanism.points.flatMap((p, k) => [...Array(p.length / 3).keys()].map("
            "n => pliant.view.camera.project([...p.subarray(3 * n, 3 * n + 3)])[1])))"
        )
        assert lowest <= page.evaluate("pliant.view.height") - 40


@pytest.mark.parametrize("gravity", [(0.0, -9.81), (0.0, 9.81)], ids=["down", "up"])
def test_what_falls_falls_down_the_page_and_gravity_is_drawn(open_page, gravity):
    """Also where gravity points along +y: then y grows down the page."""
    system = pl.System("falls", gravity=gravity)
    system.add("rod", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute())
    page = open_page(pl.simulate(system, 0.3, save=0.01))
    heights = []
    for t in (0.0, 0.3):
        _seek(page, t)
        heights.append(
            page.evaluate("(p => pliant.view.camera.project([...p.slice(p.length - 3)])[1])(pliant.mechanism.points[0])")
        )
    assert heights[1] > heights[0] + 20.0  # pixels, counted downwards
    with_arrow = _picture(page)
    page.evaluate("pliant.run.gravity = [0, 0, 0]; pliant.view.draw(pliant.t, pliant.scale, pliant.speed, pliant.view.colours)")
    assert _picture(page) != with_arrow
