"""Details beside the list: the list stays usable, the keyboard steps through it, tabs show what belongs to an item."""

import re

import pytest
from playwright.sync_api import Locator, expect

from e2e.conftest import Opener
from e2e.desk import Desk
from e2e.roles import Roles
from e2e.running import EMAIL

NARROW = {"width": 1199, "height": 800}


@pytest.fixture
def users(desk: Desk, roles: Roles) -> Desk:
    """The list of users, by e-mail: who begins with d is near the top, however many people other journeys made."""
    desk.go("/users?sort=email&order=asc")
    expect(desk.row(roles.domain_admin)).to_be_visible()
    return desk


def _drawer(desk: Desk, name: str) -> Locator:
    return desk.page.get_by_role("dialog", name=name)


def _open(desk: Desk, name: str) -> Locator:
    desk.row(name).get_by_text(name, exact=True).click()
    drawer = _drawer(desk, name)
    expect(drawer).to_be_visible()
    return drawer


def test_details_are_beside_the_list(users: Desk, roles: Roles) -> None:
    page = users.page
    drawer = _open(users, roles.domain_user)
    expect(drawer).not_to_have_attribute("aria-modal", "true")
    expect(drawer).to_be_focused()
    panel = drawer.bounding_box()
    scroller = page.get_by_role("table", name="Users").locator("..").bounding_box()
    assert panel
    assert scroller
    assert scroller["x"] + scroller["width"] <= panel["x"]

    # Another row replaces the details.
    _open(users, roles.domain_admin)
    expect(_drawer(users, roles.domain_user)).to_have_count(0)

    page.keyboard.press("Escape")
    expect(_drawer(users, roles.domain_admin)).to_have_count(0)


def test_keyboard_steps_through_the_details(users: Desk, roles: Roles) -> None:
    page = users.page
    rows = page.get_by_role("table", name="Users").locator("tbody tr[data-index]")
    first, second = rows.nth(0), rows.nth(1)
    page.keyboard.press("ArrowDown")
    expect(first).to_be_focused()
    page.keyboard.press("Enter")
    drawer = page.get_by_role("dialog")
    expect(first).to_have_attribute("data-opened", "true")
    expect(drawer).to_be_focused()

    page.keyboard.press("j")
    expect(second).to_have_attribute("data-opened", "true")
    expect(second).to_be_focused()
    expect(drawer).to_have_count(1)
    page.keyboard.press("k")
    expect(first).to_have_attribute("data-opened", "true")

    # Keys that are typed do not step.
    page.keyboard.press("/")
    page.keyboard.type("j")
    expect(page.get_by_label("Search by e-mail or name")).to_have_value("j")
    expect(page).to_have_url(re.compile(r"[?&]q=j"))
    page.keyboard.press("Backspace")
    expect(page).not_to_have_url(re.compile(r"[?&]q="))
    page.keyboard.press("Escape")
    expect(first).to_have_attribute("data-opened", "true")
    expect(drawer).to_have_count(1)

    # Closing returns to the row of the shown item.
    page.keyboard.press("j")
    expect(second).to_be_focused()
    drawer.get_by_role("button", name="Close").click()
    expect(drawer).to_have_count(0)
    expect(second).to_be_focused()


def test_unsaved_input_is_asked_about_before_another_item_or_tab(desk: Desk, roles: Roles) -> None:
    page = desk.page
    made = desk.carrel.carrel("group", "create", "spare")
    assert made.returncode == 0, made.stderr
    try:
        desk.go("/resources/groups?open=default&tab=access")
        drawer = page.get_by_role("dialog", name="default")
        drawer.get_by_label("Domains", exact=True).click()
        page.get_by_role("option", name=roles.domain, exact=True).click()
        drawer.get_by_role("tab", name="Weights").click()
        page.get_by_role("button", name="Keep editing").click()
        expect(drawer.get_by_text(roles.domain, exact=True)).to_be_visible()
        desk.row("spare").get_by_text("spare", exact=True).click()
        page.get_by_role("button", name="Keep editing").click()
        expect(drawer).to_be_visible()
        desk.row("spare").get_by_text("spare", exact=True).click()
        page.get_by_role("button", name="Discard changes").click()
        expect(page.get_by_role("dialog", name="spare")).to_be_visible()
    finally:
        desk.carrel.carrel("group", "rm", "--yes", "spare")


def test_dialogs_ask_about_unsaved_input(desk: Desk, running_session: str) -> None:
    page = desk.page
    asked = page.get_by_role("dialog", name="Discard unsaved changes?")
    desk.go(f"/sessions?q={running_session}")
    terminate = desk.row(running_session).get_by_role("button", name="Terminate")
    terminate.click()
    dialog = page.get_by_role("dialog", name="Terminate session")
    grace = dialog.get_by_label("Grace period (s)")
    grace.fill("30")
    page.keyboard.press("Escape")
    asked.get_by_role("button", name="Keep editing").click()
    expect(grace).to_have_value("30")
    dialog.get_by_role("button", name="Close").click()
    asked.get_by_role("button", name="Discard changes").click()
    expect(dialog).to_be_hidden()
    # Without input there is no question.
    terminate.click()
    expect(grace).to_have_value("")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()


def test_unsaved_names_are_asked_about_and_survive_a_change_of_the_width(
    desk: Desk, running_session: str
) -> None:
    page = desk.page
    asked = page.get_by_role("dialog", name="Discard unsaved changes?")
    desk.go(f"/sessions?q={running_session}")
    drawer = desk.detail(running_session)
    drawer.get_by_role("button", name="Rename").click()
    name = drawer.get_by_role("textbox", name="New name")
    drawer.get_by_role("button", name="Close").click()
    expect(name).to_have_count(0)

    drawer = desk.detail(running_session)
    drawer.get_by_role("button", name="Rename").click()
    name.fill("another_name")
    drawer.get_by_role("button", name="Close").click()
    asked.get_by_role("button", name="Keep editing").click()
    drawer.get_by_role("tab", name="Logs").click()
    asked.get_by_role("button", name="Keep editing").click()
    page.get_by_role("link", name="Dashboard").click()
    asked.get_by_role("button", name="Keep editing").click()
    expect(name).to_have_value("another_name")

    # The same details, in a modal drawer and beside the list again.
    page.set_viewport_size(NARROW)
    expect(drawer).to_have_attribute("aria-modal", "true")
    expect(name).to_have_value("another_name")
    page.set_viewport_size({"width": 1440, "height": 900})
    expect(drawer).not_to_have_attribute("aria-modal", "true")
    expect(name).to_have_value("another_name")

    # Escape leaves the field alone, in both.
    name.press("Escape")
    expect(name).to_have_count(0)
    page.set_viewport_size(NARROW)
    drawer.get_by_role("button", name="Rename").click()
    name.fill("another_name")
    name.press("Escape")
    expect(name).to_have_count(0)
    expect(drawer).to_be_visible()
    expect(asked).to_have_count(0)


def test_back_closes_the_details_however_many_were_shown(users: Desk) -> None:
    page = users.page
    rows = page.get_by_role("table", name="Users").locator("tbody tr[data-index]")
    rows.nth(0).focus()
    page.keyboard.press("Enter")
    for step in (1, 2, 3):
        page.keyboard.press("j")
        expect(rows.nth(step)).to_have_attribute("data-opened", "true")
    page.go_back()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page).to_have_url(re.compile(r"/users\?sort=email&order=asc$"))


def test_long_details_scroll_in_a_modal_drawer(open_desk: Opener, running_session: str) -> None:
    desk = open_desk(viewport={"width": 800, "height": 500})
    desk.go(f"/sessions?q={running_session}")
    drawer = desk.detail(running_session)
    expect(drawer.get_by_role("tabpanel")).to_be_visible()
    desk.page.mouse.move(600, 400)
    desk.page.mouse.wheel(0, 100)
    desk.page.wait_for_function("drawer => drawer.scrollTop > 0", arg=drawer.element_handle())


def test_narrow_windows_have_a_modal_drawer(open_desk: Opener, roles: Roles) -> None:
    desk = open_desk(viewport=NARROW)
    desk.go(f"/users?q={roles.user}")
    drawer = _open(desk, roles.user)
    expect(drawer).to_have_attribute("aria-modal", "true")
    desk.page.keyboard.press("Escape")
    expect(drawer).to_have_count(0)
    expect(desk.row(roles.user)).to_be_focused()


def test_tabs_list_the_sessions_of_each_object(desk: Desk, running_session: str) -> None:
    page = desk.page
    user = desk.carrel.carrel("whoami", "-o", "jsonpath={.user.id}").stdout.strip()
    for path, title in (
        ("/projects?q=default", "default"),
        ("/domains?q=default", "default"),
        ("/resources/groups?q=default", "default"),
        (f"/users?user={user}", EMAIL),
    ):
        desk.go(path)
        if "user=" not in path:
            desk.row(title).get_by_text(title, exact=True).first.click()
        drawer = _drawer(desk, title)
        expect(drawer.get_by_role("tab", name="Overview")).to_have_attribute("aria-selected", "true")
        expect(drawer.get_by_role("link", name=running_session)).to_have_count(0)
        drawer.get_by_role("tab", name="Sessions").click()
        expect(drawer.get_by_role("link", name=running_session)).to_be_visible()
        expect(page).to_have_url(re.compile("tab=sessions"))
        drawer.get_by_role("link", name="All sessions").click()
        expect(page.get_by_role("heading", name="Sessions", level=1)).to_be_visible()
        expect(desk.row(running_session)).to_be_visible()
        page.go_back()
        expect(drawer.get_by_role("tab", name="Sessions")).to_have_attribute("aria-selected", "true")


def test_tabs_list_the_folders_of_a_domain(desk: Desk, roles: Roles) -> None:
    page = desk.page
    for words in (
        ("project", "create", "optics", "--domain", roles.domain),
        ("vfolder", "create", "strings", "--project", "optics"),
        ("vfolder", "create", "elsewhere"),
    ):
        made = desk.carrel.carrel(*words)
        assert made.returncode == 0, made.stderr
    desk.go(f"/domains?q={roles.domain}")
    drawer = _open(desk, roles.domain)
    drawer.get_by_role("tab", name="Folders").click()
    expect(drawer.get_by_role("link", name="strings")).to_be_visible()
    expect(drawer.get_by_role("link", name="elsewhere", exact=True)).to_have_count(0)
    drawer.get_by_role("link", name="All folders").click()
    expect(page).to_have_url(re.compile(f"/storage/folders\\?domain={roles.domain}"))
    expect(desk.row("strings")).to_be_visible()
    expect(desk.row("elsewhere")).to_have_count(0)
    expect(page.get_by_role("combobox", name="Domain")).to_have_value(roles.domain)


def test_tabs_list_the_folders_of_a_project(desk: Desk, roles: Roles) -> None:
    page = desk.page
    made = desk.carrel.carrel("vfolder", "create", "atlas", "--project", roles.project)
    assert made.returncode == 0, made.stderr
    desk.go(f"/projects?q={roles.project}")
    drawer = _open(desk, roles.project)
    drawer.get_by_role("tab", name="Sessions").click()
    expect(drawer.get_by_text("No live sessions")).to_be_visible()
    drawer.get_by_role("tab", name="Folders").click()
    drawer.get_by_role("link", name="atlas").click()
    expect(_drawer(desk, "atlas")).to_be_visible()
    page.go_back()
    drawer.get_by_role("link", name="All folders").click()
    expect(page).to_have_url(re.compile(f"/storage/folders\\?project={roles.project}"))
    expect(desk.row("atlas")).to_be_visible()
