"""The session list: types, saved views, rows that open in place, several at once; and the timeline of a start."""

import re

import pytest
from playwright.sync_api import expect

from e2e.conftest import Opener
from e2e.desk import STARTS_MS
from e2e.running import Running

BATCH = ("--image", "starter", "--cpu", "0.25", "--mem", "256m")


@pytest.fixture(scope="module")
def array(carrel: Running) -> str:
    """An array of three sessions that stay pending: none of them starts in this century."""
    job = ("--start-at", "2090-01-01T00:00Z", "--array", "1-3", "--name", "grid", "--detach")
    done = carrel.carrel("run", *BATCH, *job, "--", "true")
    assert done.returncode == 0, done.stderr
    return "grid[1-3]"


def test_an_array_opens_in_place_by_mouse_and_keyboard_and_by_its_link(open_desk: Opener, array: str) -> None:
    desk = open_desk()
    page = desk.page
    desk.go("/sessions?q=grid-2")
    expect(page.get_by_role("row").filter(has_text=array)).to_be_visible()
    desk.go("/sessions?q=grid")
    opener = page.get_by_role("button", name=f"Sessions of {array}")
    expect(opener).to_have_attribute("aria-expanded", "false")
    opener.click()
    members = page.get_by_role("region", name=f"Sessions of {array}")
    expect(members.get_by_role("row")).to_have_count(4)
    expect(members.get_by_text("3 of 3 sessions")).to_be_visible()
    page.reload()
    expect(members.get_by_role("link", name="grid-2")).to_be_visible()
    row = page.locator("tr[data-index]").filter(has_text=array)
    row.focus()
    page.keyboard.press("ArrowLeft")
    expect(members).to_have_count(0)
    page.keyboard.press("ArrowRight")
    members.get_by_role("link", name="grid-3").click()
    expect(page.get_by_role("dialog", name="grid-3")).to_be_visible()


def test_a_filter_is_saved_as_a_view_that_other_browsers_have_too(open_desk: Opener, array: str) -> None:
    desk = open_desk()
    desk.go("/sessions?q=grid")
    types = desk.page.get_by_role("navigation", name="Types and saved views")
    types.get_by_role("link", name=re.compile("^Batch")).click()
    expect(types.get_by_role("link", name="Batch 1")).to_have_attribute("aria-current", "page")
    types.get_by_role("button", name="Save view…").click()
    desk.page.get_by_label("Name of the view").fill("my grid")
    desk.page.get_by_role("button", name="Save", exact=True).click()
    expect(types.get_by_role("link", name="my grid")).to_have_attribute("aria-current", "page")
    other = open_desk()
    other.go("/sessions")
    other.page.get_by_role("link", name="my grid").click()
    expect(other.page.get_by_label("Search by name or image")).to_have_value("grid")
    other.page.get_by_role("button", name="View my grid").click()
    other.page.get_by_role("menuitem", name="Rename…").click()
    other.page.get_by_label("Name of the view").fill("grid jobs")
    other.page.get_by_role("button", name="Rename", exact=True).click()
    other.page.get_by_role("button", name="View grid jobs").click()
    other.page.get_by_role("menuitem", name="Delete view").click()
    expect(other.page.get_by_role("link", name="grid jobs")).to_have_count(0)
    other.page.get_by_role("button", name="Undo").click()
    expect(other.page.get_by_role("link", name="grid jobs")).to_be_visible()


def test_the_priority_of_a_selection_changes_at_once(open_desk: Opener, carrel: Running, array: str) -> None:
    desk = open_desk()
    desk.go("/sessions?q=grid")
    desk.page.get_by_label(f"Select {array}").check(force=True)
    desk.page.get_by_role("button", name="Priority…").click()
    dialog = desk.page.get_by_role("dialog", name="Change priority")
    dialog.get_by_label("Priority", exact=True).fill("12")
    expect(dialog.get_by_text("carrel session priority grid 12")).to_be_visible()
    dialog.get_by_role("button", name="Change priority").click()
    expect(dialog).to_have_count(0)
    done = carrel.carrel("session", "ls", "--array", "grid", "-o", "jsonpath={.items[*].priority}")
    assert done.stdout.split() == ["12", "12", "12"]


def test_the_details_show_how_long_each_step_of_the_start_took(open_desk: Opener, carrel: Running) -> None:
    made = carrel.carrel("session", "create", *BATCH, "--name", "timed", "--wait", timeout=STARTS_MS / 500)
    assert made.returncode == 0, made.stderr
    desk = open_desk()
    desk.go("/sessions?session=timed&tab=history")
    steps = desk.page.get_by_role("list", name="Steps of the start")
    expect(steps.get_by_role("listitem")).to_have_text(
        [re.compile(f"^{name}.*(ms|sec)$") for name in ("Queue", "Image", "Container")]
    )
    desk.page.get_by_text("Show as table").click()
    table = desk.page.get_by_role("table", name="Steps of the start")
    expect(table.get_by_role("row")).to_have_count(4)
    carrel.carrel("session", "rm", "timed", "--yes")
