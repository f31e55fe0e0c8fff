"""The command palette: finds pages, settings, objects and actions, by the keyboard alone and on a phone."""

import re

import httpx2
import pytest
from playwright.sync_api import Locator, Page, Request, expect

from e2e.conftest import Opener
from e2e.desk import Desk
from e2e.people import administrator
from e2e.roles import Roles
from e2e.running import Running


@pytest.fixture
def node(carrel: Running) -> str:
    """The name of the only node."""
    with administrator(carrel) as api:
        answer: httpx2.Response = api.get("/nodes")
    [one] = answer.json()["items"]
    return str(one["name"])


def _opened(page: Page) -> Locator:
    """The search field of the palette, opened by its key."""
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.keyboard.press("Control+K")
    command = page.get_by_role("combobox", name="Command")
    expect(command).to_be_focused()
    return command


def _choose(page: Page, query: str, first: str | re.Pattern[str]) -> None:
    """Type a query and choose what comes first, once it is this entry."""
    command = _opened(page)
    command.fill(query)
    active = page.get_by_role("option", selected=True)
    expect(active).to_have_accessible_name(re.compile(first))
    expect(command).to_have_attribute("aria-activedescendant", str(active.get_attribute("id")))
    page.keyboard.press("Enter")
    expect(command).to_be_hidden()


def test_palette_finds_a_session_a_node_a_setting_and_an_action(
    desk: Desk, running_session: str, node: str
) -> None:
    page = desk.page
    desk.go("/")
    _choose(page, running_session, f"^{running_session}")
    expect(page.get_by_role("dialog", name=running_session)).to_be_visible()
    page.keyboard.press("Escape")

    _choose(page, f"drain {node}", f"^Drain {node}")
    question = page.get_by_role("dialog", name=f"Drain {node}")
    # With the table, the dialog has its height and the button its place.
    expect(question.get_by_role("table", name="Affected sessions")).to_be_visible()
    question.get_by_role("button", name="Cancel").click()
    expect(question).to_be_hidden()
    page.keyboard.press("Escape")

    _choose(page, "lockout duration", "^Lockout duration")
    expect(page.get_by_role("textbox", name="Lockout duration", exact=True)).to_be_focused()
    expect(page).to_have_url(re.compile("/site#lock_minutes$"))
    _choose_from_field(page, "smtp", "Mail server")

    desk.go("/")
    _choose(page, f"terminate {running_session}", f"^Terminate {running_session}")
    ending = page.get_by_role("dialog", name="Terminate session")
    ending.get_by_role("button", name="Keep").click()

    _choose(page, "shortcuts", "^Keyboard shortcuts")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.keyboard.press("Escape")

    # What was chosen is offered again.
    _opened(page)
    recent = page.get_by_role("group", name="Recent").get_by_role("option")
    expect(recent.first).to_have_accessible_name("Keyboard shortcuts")
    expect(recent.nth(1)).to_have_accessible_name(re.compile("^Mail server"))
    expect(recent.filter(has_text="Terminate")).to_have_count(0)


def _choose_from_field(page: Page, query: str, field: str) -> None:
    """From within the page of a setting: by the button, as the keys belong to the field."""
    page.get_by_role("button", name="Search and commands").click()
    page.get_by_role("combobox", name="Command").fill(query)
    page.get_by_role("option", name=re.compile(f"^{field}")).first.click()
    expect(page.get_by_role("textbox", name=field, exact=True)).to_be_focused()


def test_palette_asks_only_for_what_the_user_may_list(open_desk: Opener, roles: Roles) -> None:
    desk = roles.desk(open_desk, roles.user)
    page = desk.page
    asked: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url)

    command = _opened(page)
    page.on("request", note)
    with page.expect_response(re.compile(r"/api/v1/sessions\?.*q=paul")):
        command.fill("user paul")
    expect(page.get_by_text("Nothing found")).to_be_visible()
    for kind in ("users", "nodes", "groups"):
        assert not [url for url in asked if f"/api/v1/{kind}?" in url], asked
    assert all("owner=me" in url for url in asked if "/api/v1/sessions?" in url), asked


def test_palette_fits_a_phone_and_keeps_its_upper_edge(open_desk: Opener) -> None:
    desk = open_desk(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    desk.go("/")
    page = desk.page
    page.get_by_role("button", name="Search and commands").tap()
    box = page.get_by_role("dialog", name="Search and commands")
    before = box.bounding_box()
    command = box.get_by_role("combobox", name="Command")
    command.fill("mail server password")
    expect(box.get_by_role("option")).to_have_count(1)
    after = box.bounding_box()
    assert before
    assert after
    assert after["y"] == before["y"]
    assert after["height"] < before["height"]
    assert after["x"] >= 0
    assert after["x"] + after["width"] <= 390
    command.fill("no such thing anywhere")
    expect(box).to_contain_text("Nothing found")
    command.fill("dashboard")
    box.get_by_role("option", name="Dashboard").first.tap()
    expect(page.get_by_role("heading", name="Dashboard", level=1)).to_be_visible()
