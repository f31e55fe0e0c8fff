"""Languages, themes, small windows, and the keyboard alone."""

import re
from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from e2e.conftest import Opener
from e2e.desk import STARTS_MS, Desk
from e2e.people import administrator, make_person
from e2e.running import EMAIL, Running

PHONE = {"width": 390, "height": 844}


@pytest.mark.parametrize(
    ("language", "own_name", "sessions", "sign_in"),
    [("ko", "한국어", "세션", "로그인"), ("ja", "日本語", "セッション", "サインイン")],
)
def test_language_switches_and_stays(
    carrel: Running, open_desk: Opener, language: str, own_name: str, sessions: str, sign_in: str
) -> None:
    desk = open_desk(stranger=True)
    person = make_person(carrel)
    desk.go("/sessions")
    desk.sign_in(person.password, email=person.email)
    desk.page.get_by_role("button", name="User menu").click()
    desk.page.get_by_role("menuitem", name=own_name).click()
    heading = desk.page.get_by_role("heading", level=1)
    expect(heading).to_have_text(sessions)
    desk.page.reload()
    expect(heading).to_have_text(sessions)
    expect(desk.page.locator("html")).to_have_attribute("lang", language)


def test_language_of_the_browser_is_used_at_first(open_desk: Opener) -> None:
    desk = open_desk(stranger=True, locale="ko-KR")
    desk.go("/")
    expect(desk.page.locator("html")).to_have_attribute("lang", "ko")


def _ground(page: Page) -> float:
    """How light the page's ground is, 0 to 255."""
    rgb = page.evaluate(
        "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number)"
    )
    return sum(rgb) / 3


def test_theme_follows_the_system_until_chosen_and_stays(carrel: Running, open_desk: Opener) -> None:
    desk = open_desk(stranger=True, color_scheme="dark")
    person = make_person(carrel)
    desk.go("/")
    desk.sign_in(person.password, email=person.email)
    expect(desk.page.get_by_role("button", name="User menu")).to_be_visible()
    expect(desk.page.get_by_role("heading", level=1)).to_be_visible()
    assert _ground(desk.page) < 60
    desk.page.get_by_role("button", name="User menu").click()
    desk.page.get_by_role("menuitem", name="Light").click()
    expect(desk.page.locator("html")).to_have_attribute("data-mantine-color-scheme", "light")
    desk.page.reload()
    expect(desk.page.get_by_role("heading", level=1)).to_be_visible()
    assert _ground(desk.page) > 200


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/sessions?state=all",
        "/sessions?launch=new",
        "/settings/keypairs",
        "/settings/password",
        "/terminal/{session}",
    ],
)
def test_nothing_is_wider_than_a_phone(open_desk: Opener, running_session: str, path: str) -> None:
    desk = open_desk(viewport=PHONE, has_touch=True, is_mobile=True)
    desk.go(path.format(session=running_session))
    expect(desk.page.get_by_role("heading").first).to_be_visible()
    desk.page.wait_for_load_state("load")
    wide = desk.page.evaluate("document.documentElement.scrollWidth")
    assert wide <= PHONE["width"]


def test_cards_of_a_phone_are_rendered_where_one_looks(open_desk: Opener, carrel: Running) -> None:
    with administrator(carrel) as api:
        for number in range(120):
            assert api.patch("/site", json={"announcement": f"card {number}"}).status_code == 200
        api.patch("/site", json={"announcement": ""})
    desk = open_desk(viewport={"width": 390, "height": 844})
    desk.go("/audit?action=site.update")
    cards = desk.page.get_by_role("article")
    expect(cards.first).to_have_attribute("aria-posinset", "1")
    size = int(cards.first.get_attribute("aria-setsize") or 0)
    assert cards.count() < 40 <= size
    # The next page is loaded on the way down, and what was left behind is rendered no more.
    scroller = desk.page.locator("section:has(> div > article)")
    scroller.focus()
    for _ in range(2):
        desk.page.keyboard.press("End")
        scroller.evaluate(
            "async (it) => { await new Promise(requestAnimationFrame); it.scrollTop = it.scrollHeight }"
        )
    expect(cards.last).not_to_have_attribute("aria-setsize", str(size))
    expect(desk.page.locator("article[aria-posinset='1']")).to_have_count(0)
    assert cards.count() < 40


def test_phone_can_start_and_end_a_session(open_desk: Opener) -> None:
    desk = open_desk(viewport=PHONE, has_touch=True, is_mobile=True)
    desk.go("/sessions")
    drawer = desk.launcher()
    drawer.get_by_label("Name", exact=True).fill("from_phone")
    drawer.get_by_label("CPU cores", exact=True).fill("0.25")
    drawer.get_by_role("button", name="Start", exact=True).tap()
    card = desk.page.get_by_role("article").filter(has_text="from_phone")
    expect(card).to_contain_text("Running", timeout=STARTS_MS)
    card.get_by_role("button", name="Terminate").tap()
    question = desk.page.get_by_role("dialog", name="Terminate session")
    question.get_by_role("button", name="Terminate").tap()
    expect(card).to_contain_text("Terminated", timeout=STARTS_MS)


def test_phone_can_delete_a_keypair(open_desk: Opener) -> None:
    desk = open_desk(viewport=PHONE, has_touch=True, is_mobile=True)
    desk.go("/settings/keypairs")
    desk.page.get_by_role("button", name="Create keypair").tap()
    drawer = desk.page.get_by_role("dialog", name="Create keypair")
    drawer.get_by_role("button", name="Create keypair").tap()
    desk.page.get_by_role("button", name="I have saved it").tap()
    cards = desk.page.get_by_role("article")
    card = cards.first
    key = card.inner_text().split()[0]
    card.get_by_role("button", name="Delete").tap()
    question = desk.page.get_by_role("dialog", name="Delete keypair")
    expect(question).to_contain_text(key)
    question.get_by_role("button", name="Delete").tap()
    expect(desk.page.get_by_text(key, exact=True)).to_have_count(0)


def test_list_of_keypairs_is_sorted_by_its_address(desk: Desk) -> None:
    desk.go("/settings/keypairs?sort=created&order=desc")
    header = desk.page.get_by_role("columnheader", name="Created")
    expect(header).to_have_attribute("aria-sort", "descending")
    header.get_by_role("button").click()
    expect(header).to_have_attribute("aria-sort", "none")
    expect(desk.page).to_have_url(f"{desk.carrel.url}/settings/keypairs")


def test_reasons_speak_the_language_of_the_page(open_desk: Opener) -> None:
    desk = open_desk(locale="ko-KR")
    made = desk.carrel.carrel(
        "session", "create", "--image", "starter", "--cpu", "2", "--mem", "256m", "--name", "too_late"
    )
    assert made.returncode == 0, made.stderr
    desk.carrel.carrel("session", "rm", "--yes", "too_late", "--force")
    desk.go("/sessions?state=all&q=too_late")
    expect(desk.row("too_late")).to_contain_text("님이 종료했습니다.", timeout=STARTS_MS)


def test_keyboard_alone_starts_and_ends_a_session(desk: Desk) -> None:
    keyboard = desk.page.keyboard
    desk.go("/")
    expect(desk.page.get_by_role("heading", level=1)).to_be_visible()
    command = desk.page.get_by_role("combobox", name="Command")
    # 1. The palette opens the launcher, whose first field has the focus.
    keyboard.press("Control+K")
    expect(command).to_be_focused()
    keyboard.type("start a session")
    chosen = desk.page.get_by_role("option", selected=True)
    expect(chosen).to_have_accessible_name("Start a session")
    keyboard.press("Enter")
    drawer = desk.page.get_by_role("dialog", name="Start a session")
    expect(drawer.get_by_label("Name", exact=True)).to_be_focused()
    keyboard.type("by_keyboard")
    keyboard.press("Enter")
    expect(drawer).to_be_hidden()
    desk.expect_state("by_keyboard", "Running")
    # 2. The palette names the session and ends it, after a question that Tab and Enter answer.
    keyboard.press("Control+K")
    expect(command).to_be_focused()
    keyboard.type("terminate by_keyboard")
    expect(chosen).to_have_accessible_name(re.compile("^Terminate by_keyboard"))
    keyboard.press("Enter")
    question = desk.page.get_by_role("dialog", name="Terminate session")
    expect(question.get_by_role("button", name="Keep")).to_be_focused()
    keyboard.press("Tab")
    expect(question.get_by_role("button", name="Terminate")).to_be_focused()
    keyboard.press("Enter")
    desk.expect_state("by_keyboard", "Terminated")


_COLOUR = """(icon) => getComputedStyle(icon).color.match(/[\\d.]+/g).slice(0, 3).map(Number)"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_disabled_icons_are_fainter_than_enabled_ones(
    carrel: Running, open_desk: Opener, scheme: Literal["light", "dark"]
) -> None:
    desk = open_desk(color_scheme=scheme)
    desk.go(f"/users?q={EMAIL}")
    row = desk.row(EMAIL)
    # A state has an icon besides its colour.
    expect(row.locator("[data-state=active] svg")).to_be_visible()
    disabled = row.get_by_role("button", name=re.compile("You cannot deactivate yourself"))
    expect(disabled).to_have_css("background-color", "rgba(0, 0, 0, 0)")
    ground = _ground(desk.page)
    faint, clear = (
        abs(sum(button.evaluate(_COLOUR)) / 3 - ground)
        for button in (disabled, row.get_by_role("button", name=re.compile("^Edit")))
    )
    assert faint < clear - 20


def test_actions_of_a_row_are_in_view_where_the_columns_are_not(
    open_desk: Opener, running_session: str
) -> None:
    desk = open_desk(viewport={"width": 1100, "height": 800})
    desk.go("/sessions")
    tool = desk.row(running_session).get_by_role("button", name="Terminate")
    expect(tool).to_be_in_viewport(ratio=1)
    assert tool.evaluate(
        "(one) => { const box = one.getBoundingClientRect();"
        " return one.contains(document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2)) }"
    )


def test_dialogs_of_a_phone_are_above_the_drawer_that_opened_them(
    open_desk: Opener, running_session: str
) -> None:
    desk = open_desk(viewport=PHONE, has_touch=True, is_mobile=True)
    desk.page.set_default_timeout(10_000)
    desk.go("/sessions")
    desk.page.get_by_role("article").filter(has_text=running_session).get_by_text(
        running_session, exact=True
    ).tap()
    drawer = desk.page.get_by_role("dialog", name=running_session)
    drawer.get_by_role("tab", name="Apps").tap()

    # The options of an app.
    drawer.get_by_role("button", name="More about JupyterLab").tap()
    desk.page.get_by_role("menuitem", name="Start another one").tap()
    options = desk.page.get_by_role("dialog", name="Start another JupyterLab")
    options.get_by_role("button", name="Cancel").tap()
    expect(options).to_be_hidden()

    # A form, and the question about its unsaved input, which is above both.
    drawer.get_by_role("button", name="Open a port").tap()
    form = desk.page.get_by_role("dialog", name="Open a port")
    form.get_by_label("Name").tap()
    desk.page.keyboard.type("half")
    form.get_by_role("button", name="Close", exact=True).tap()
    question = desk.page.get_by_role("dialog", name="Discard unsaved changes?")
    question.get_by_role("button", name="Discard changes").tap()
    expect(form).to_be_hidden()

    # A choice inside a dialog.
    drawer.get_by_role("button", name="Open a port").tap()
    form.get_by_label("Protocol").first.tap()
    desk.page.get_by_role("option", name="TCP, forwarded to a local port").tap()
    form.get_by_role("button", name="Cancel").tap()

    drawer.get_by_role("button", name="Terminate").tap()
    termination = desk.page.get_by_role("dialog", name="Terminate session")
    termination.get_by_role("button", name="Keep").tap()
    expect(termination).to_be_hidden()
    expect(drawer).to_be_visible()
