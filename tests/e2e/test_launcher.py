"""The launcher's form: what survives, what is asked before it is lost, and what follows the start."""

import re

from playwright.sync_api import expect

from e2e.conftest import Opener
from e2e.desk import STARTS_MS, Desk
from e2e.people import fresh


def test_form_survives_a_reload_and_a_link(desk: Desk, open_desk: Opener) -> None:
    drawer = desk.filled_launcher(Name="by_link", CPU_cores="0.25")
    drawer.get_by_role("button", name="Add variable").click()
    drawer.get_by_label("Name of variable 1").fill("TOKEN")
    drawer.get_by_label("Value of variable 1").fill("not-in-a-link")
    expect(drawer.locator("code")).to_contain_text("TOKEN=not-in-a-link")
    desk.page.wait_for_url(re.compile("by_link"))
    desk.page.wait_for_function(
        "() => sessionStorage.getItem('carrel.launch.env.new')?.includes('not-in-a-link')"
    )
    desk.page.reload()
    expect(drawer.get_by_label("Name", exact=True)).to_have_value("by_link")
    expect(drawer.get_by_label("CPU cores", exact=True)).to_have_value("0.25")
    expect(drawer.get_by_label("Value of variable 1")).to_have_value("not-in-a-link")
    assert "not-in-a-link" not in desk.page.url

    other = open_desk()
    other.page.goto(desk.page.url)
    shared = other.page.get_by_role("dialog", name="Start a session")
    expect(shared.get_by_label("Name", exact=True)).to_have_value("by_link")
    expect(shared.get_by_label("CPU cores", exact=True)).to_have_value("0.25")
    expect(shared.get_by_label("Value of variable 1")).to_be_hidden()


def test_unsaved_input_of_a_drawer_is_not_lost_by_a_key(desk: Desk) -> None:
    page = desk.page
    drawer = desk.filled_launcher(Name="half_done")
    asked = page.get_by_role("dialog", name="Discard unsaved changes?")
    drawer.get_by_role("button", name="Close").click()
    asked.get_by_role("button", name="Keep editing").click()
    expect(asked).to_be_hidden()
    expect(drawer.get_by_label("Name", exact=True)).to_have_value("half_done")
    drawer.get_by_role("button", name="Close").click()
    asked.get_by_role("button", name="Discard changes").click()
    expect(drawer).to_be_hidden()
    assert "half_done" not in page.url
    # Another drawer, and nothing was typed: nothing is asked.
    desk.go("/projects?make=one")
    project = page.get_by_role("dialog", name="New project")
    expect(project.get_by_role("textbox", name="Name")).to_be_visible()
    project.get_by_role("button", name="Close").click()
    expect(project).to_be_hidden()
    expect(asked).to_be_hidden()
    page.go_back()
    project.get_by_role("textbox", name="Name").fill("half")
    project.get_by_role("button", name="Close").click()
    asked.get_by_role("button", name="Discard changes").click()
    expect(project).to_be_hidden()


def test_start_stays_in_view_and_leads_into_the_session(desk: Desk) -> None:
    page = desk.page
    page.set_viewport_size({"width": 390, "height": 700})
    drawer = desk.filled_launcher(Name="led_into", CPU_cores="0.25", Memory="0.25")
    start = drawer.get_by_role("button", name="Start", exact=True)
    expect(drawer.locator("[data-verdict=starts]")).to_be_in_viewport(ratio=1)
    expect(start).to_be_in_viewport(ratio=1)
    # The buttons are at the end of the drawer, also where the form is shorter.
    desk.page.set_viewport_size({"width": 1440, "height": 1600})
    desk.page.wait_for_function(
        "() => [...document.querySelectorAll('[role=dialog] form > * > :last-child')]"
        ".some((footer) => footer.getBoundingClientRect().bottom > innerHeight - 2)"
    )
    desk.page.set_viewport_size({"width": 1440, "height": 900})
    drawer.get_by_role("button", name="Add folder").or_(
        drawer.get_by_text("Folders").first
    ).first.scroll_into_view_if_needed()
    expect(start).to_be_in_viewport(ratio=1)
    start.click()
    notice = page.get_by_role("alert").filter(has_text="led_into")
    expect(notice.get_by_role("button", name="Open JupyterLab")).to_be_visible(timeout=STARTS_MS)
    notice.get_by_role("button", name="Terminal").click()
    expect(page).to_have_url(re.compile("/terminal/"))
    desk.carrel.carrel("session", "rm", "--yes", "led_into", "--force")


def test_incomplete_form_shows_no_command(desk: Desk) -> None:
    drawer = desk.filled_launcher(Name="no_command")
    expect(drawer.locator("code")).to_contain_text("--name no_command")
    drawer.get_by_role("button", name="Add variable").click()
    drawer.get_by_label("Name of variable 1").fill("1X")
    expect(drawer.locator("code")).to_be_hidden()
    drawer.get_by_label("Name of variable 1").fill("X1")
    expect(drawer.locator("code")).to_contain_text("--env X1=")


def test_batch_session_runs_a_command_and_shows_its_result(desk: Desk) -> None:
    page = desk.page
    drawer = desk.filled_launcher(Name="nightly_report", CPU_cores="0.25", Memory="0.25")
    drawer.get_by_text("Batch: runs a command").click()
    drawer.get_by_role("button", name="Start", exact=True).click()
    expect(drawer.get_by_text("Enter the command to run.")).to_be_visible()
    drawer.get_by_role("textbox", name="Command").fill("echo started\nexit 3")
    expect(drawer.locator("code")).to_contain_text("carrel run --detach")
    page.wait_for_url(re.compile("script"))
    page.reload()
    expect(drawer.get_by_role("textbox", name="Command")).to_have_value("echo started\nexit 3")
    drawer.get_by_role("button", name="Start", exact=True).click()
    expect(drawer).to_be_hidden()
    desk.go("/sessions?state=all")
    row = page.get_by_role("row").filter(has_text="nightly_report")
    expect(row.get_by_text("Failed", exact=True)).to_be_visible(timeout=STARTS_MS)
    row.get_by_role("link", name="nightly_report").click()
    details = page.get_by_role("dialog", name="nightly_report").or_(
        page.get_by_role("complementary", name="nightly_report")
    )
    expect(details.get_by_text("exit code 3").first).to_be_visible()
    details.get_by_role("tab", name="Logs").click()
    expect(details.get_by_text("started", exact=True)).to_be_visible()


def test_session_starts_in_another_group_that_it_accepts(desk: Desk) -> None:
    page, group = desk.page, fresh("empty")
    desk.carrel.carrel("group", "create", group)
    try:
        drawer = desk.filled_launcher(Name="either_group", CPU_cores="0.25", Memory="0.25")
        drawer.get_by_role("combobox", name="Resource group").click()
        page.get_by_role("option", name=group).click()
        expect(drawer.locator("[data-verdict=waits]")).to_be_visible()
        drawer.get_by_role("button", name="More options").click()
        others = drawer.get_by_role("combobox", name="Also accept these groups")
        others.click()
        page.get_by_role("option", name="default", exact=True).click()
        expect(drawer.locator("[data-verdict=starts]")).to_contain_text("Starts now, in default.")
        expect(drawer.locator("code")).to_contain_text(re.compile(f"--group {group} .*--group default"))
        others.press("Escape")
        drawer.get_by_role("button", name="Start", exact=True).click()
        expect(drawer).to_be_hidden()
        details = desk.detail("either_group")
        expect(details.get_by_text(f"{group}, default", exact=True)).to_be_visible()
        desk.carrel.carrel("session", "rm", "--yes", "either_group", "--force")
    finally:
        desk.carrel.carrel("group", "edit", group, "--deactivate")
