"""The navigation, the user menu, and the help of the keyboard shortcuts."""

import re

from playwright.sync_api import expect

from e2e.conftest import Opener
from e2e.desk import Desk
from e2e.roles import Roles


def test_administration_is_grouped(desk: Desk, open_desk: Opener, roles: Roles) -> None:
    desk.go("/")
    pages = desk.page.get_by_role("navigation", name="Pages")
    for area, links in {
        "People": ["Users", "Identity providers"],
        "Infrastructure": ["Resources", "Storage", "Environments", "Scheduler"],
        "Policy": ["Resource policies"],
        "System": ["Audit", "Configuration", "Maintenance"],
    }.items():
        expect(pages.get_by_role("group", name=area).get_by_role("link")).to_have_text(links)

    theirs = roles.desk(open_desk, roles.project_admin).page.get_by_role("navigation", name="Pages")
    expect(theirs.get_by_role("group", name="People").get_by_role("link")).to_have_text(["Users"])
    expect(theirs.get_by_role("group", name="Policy")).to_have_count(0)


def test_project_switcher_says_what_it_decides(open_desk: Opener, roles: Roles) -> None:
    desk = roles.desk(open_desk, roles.user)
    expect(desk.page.get_by_text(f"New sessions in: {roles.project}", exact=True)).to_be_visible()


def test_help_lists_the_shortcuts_of_the_page(desk: Desk, running_session: str) -> None:
    page = desk.page
    desk.go("/sessions")
    expect(desk.row(running_session)).to_be_visible()
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(dialog.get_by_role("row", name="N Start a session")).to_be_visible()
    expect(dialog.get_by_role("row", name="T Open terminal")).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)

    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Start", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Welcome, ")
    page.get_by_role("button", name="User menu").click()
    menu = page.get_by_role("menu")
    expect(menu.get_by_role("menuitem", name="Your settings")).to_be_visible()
    expect(menu).to_contain_text("Version ")
    menu.get_by_role("menuitem", name="Keyboard shortcuts").click()
    expect(dialog.get_by_role("row", name="Search and commands")).to_be_visible()
    expect(dialog).not_to_contain_text("Start a session")
    expect(dialog).not_to_contain_text("Search the list")


def test_documentation_is_part_of_the_page(desk: Desk) -> None:
    page = desk.page
    desk.go("/")
    page.get_by_role("button", name="User menu").click()
    page.get_by_role("menuitem", name="Help").click()
    expect(page.get_by_role("heading", name="Carrel's documentation")).to_be_visible()
    page.get_by_role("link", name="howto/waiting.md").click()
    expect(page.get_by_role("heading", name="While a session is pending")).to_be_attached()
    picture = page.get_by_role("img", name="The drawer of a session that is pending")
    picture.scroll_into_view_if_needed()
    assert picture.evaluate("picture => picture.decode().then(() => picture.naturalWidth)") > 400
    page.get_by_role("searchbox", name="Search the documentation").fill("network drive")
    page.get_by_role("list", name="Results").get_by_role("link").first.click()
    expect(page).to_have_url(re.compile("/help/howto/network-drive$"))
    expect(page.get_by_role("heading", level=1)).to_contain_text("network drive")
    desk.go("/help/nothing")
    expect(page.get_by_text("Page not found")).to_be_visible()
    page.get_by_role("button", name="User menu").click()
    page.get_by_role("menuitem", name="What is new").click()
    expect(page.get_by_role("heading", name="Changelog")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="Changelog")).to_be_visible()
