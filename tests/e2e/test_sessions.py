"""Starting, watching and ending sessions on the page."""

import re
import shlex
from pathlib import Path

from playwright.sync_api import expect

from e2e.conftest import SMALL, Opener
from e2e.desk import STARTS_MS, Desk
from e2e.running import EMAIL, Running


def test_launcher_starts_a_session_and_its_row_is_live(desk: Desk) -> None:
    desk.go("/sessions")
    drawer = desk.launcher()
    drawer.get_by_label("Name", exact=True).fill("from_page")
    drawer.get_by_label("CPU cores", exact=True).fill("0.25")
    drawer.get_by_label("Memory", exact=True).fill("0.25")
    desk.page.evaluate("window.never_reloaded = true")
    drawer.get_by_role("button", name="Start", exact=True).click()
    expect(drawer).to_be_hidden()
    expect(desk.row("from_page")).to_be_visible(timeout=2_000)
    desk.expect_state("from_page", "Running")
    expect(desk.row("from_page")).to_contain_text("0.25 CPU")
    assert desk.page.evaluate("window.never_reloaded")
    desk.carrel.carrel("session", "rm", "--yes", "from_page", "--force")


def test_launcher_shows_a_command_that_carrel_accepts(desk: Desk) -> None:
    drawer = desk.filled_launcher(Name="by_command", CPU_cores="0.25", Memory="0.3")
    drawer.get_by_role("button", name="Add variable").click()
    drawer.get_by_label("Name of variable 1").fill("GREETING")
    drawer.get_by_label("Value of variable 1").fill("it's $HOME")
    line = drawer.locator("code").inner_text()
    program, *words = shlex.split(line)
    assert program == "carrel"
    done = desk.carrel.carrel(*words, "--wait")
    assert done.returncode == 0, f"{line}: {done.stderr}"
    assert desk.carrel.shell("by_command", 'printf %s "$GREETING"') == "it's $HOME"
    drawer.get_by_role("button", name="Cancel").click()
    desk.expect_state("by_command", "Running")
    desk.carrel.carrel("session", "rm", "--yes", "by_command", "--force")


def test_launcher_tells_what_is_wrong_before_it_asks(desk: Desk) -> None:
    drawer = desk.filled_launcher(Name="a b", Memory="9999")
    expect(drawer).to_contain_text("4 to 64 letters")
    expect(drawer).to_contain_text("Cannot start: No node has 9.8 TiB; the largest has ")
    expect(drawer.get_by_role("button", name="Start", exact=True)).to_be_disabled()


def test_name_that_is_taken_is_said_at_the_name(desk: Desk, running_session: str) -> None:
    drawer = desk.filled_launcher(Name=running_session, CPU_cores="0.25")
    drawer.get_by_role("button", name="Start", exact=True).click()
    expect(drawer).to_contain_text("session.name_taken")
    expect(drawer.get_by_label("Name", exact=True)).to_have_attribute("aria-invalid", "true")


def test_wrong_image_ends_in_a_sentence(desk: Desk) -> None:
    drawer = desk.filled_launcher(Image="localhost:1/no/such:image", Name="wrong_image", CPU_cores="0.25")
    drawer.get_by_role("button", name="Start", exact=True).click()
    expect(drawer).to_have_count(0)
    # One that has ended may leave the live ones at any time.
    desk.go("/sessions?state=all")
    expect(desk.row("wrong_image")).to_contain_text("Error", timeout=90_000)
    reason = desk.detail("wrong_image").get_by_role("alert").first
    expect(reason).to_contain_text("localhost:1/no/such:image")
    words = reason.inner_text()
    assert "Traceback" not in words
    assert "{" not in words
    assert words.rstrip().endswith(".")


def test_history_tells_every_step_with_its_cause(desk: Desk, running_session: str) -> None:
    desk.go("/sessions")
    changes = desk.detail(running_session, "History").get_by_role("list", name="State changes")
    steps = changes.get_by_role("listitem")
    for step, state in enumerate(("Pending", "Scheduled", "Preparing", "Starting", "Running")):
        expect(steps.nth(step)).to_contain_text(state)
    expect(steps.first).to_contain_text(EMAIL)


def test_logs_are_live_and_can_be_downloaded(desk: Desk, running_session: str, tmp_path: Path) -> None:
    desk.carrel.shell(running_session, "echo before it was opened > /proc/1/fd/1")
    desk.go("/sessions")
    drawer = desk.detail(running_session, "Logs")
    log = drawer.get_by_role("log")
    expect(log).to_contain_text("before it was opened")
    desk.carrel.shell(running_session, "echo while it was open > /proc/1/fd/1")
    expect(log).to_contain_text("while it was open")
    with desk.page.expect_download() as download:
        drawer.get_by_role("link", name="Download full log").click()
    file = tmp_path / "session.log"
    download.value.save_as(file)
    assert "before it was opened\nwhile it was open\n" in file.read_text()
    assert download.value.suggested_filename.startswith(f"{running_session}-")


def test_logs_are_searched_by_text_stream_and_time(desk: Desk, running_session: str, tmp_path: Path) -> None:
    desk.carrel.shell(
        running_session,
        "i=0; while [ $i -lt 30000 ]; do echo number $i; i=$((i+1)); done > /proc/1/fd/1; sleep 2;"
        " echo a Needle in the errors > /proc/1/fd/2",
    )
    desk.go("/sessions")
    drawer = desk.detail(running_session, "Logs")
    log = drawer.get_by_role("log")
    # Followed to the last of more lines than the page keeps.
    expect(log).to_contain_text("a Needle in the errors")
    expect(drawer).to_contain_text("Download the log to see earlier lines.")
    expect(log.get_by_title("stderr")).to_contain_text("a Needle in the errors")
    drawer.get_by_text("stderr", exact=True).click()
    expect(log).not_to_contain_text("number")
    drawer.get_by_text("All", exact=True).click()
    # The search finds what the page has dropped.
    drawer.get_by_role("searchbox").fill("NUMBER 77")
    expect(drawer).to_contain_text(f"{1 + 10 + 100} matching lines")
    expect(log.get_by_text("number 7799", exact=True)).to_be_visible()
    drawer.get_by_label("Timestamps").check()
    year = re.compile(r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}")
    expect(log.locator("time").first).to_have_text(year)
    with desk.page.expect_download() as download:
        drawer.get_by_role("link", name="Download matching lines").click()
    file = tmp_path / "session.log"
    download.value.save_as(file)
    lines = file.read_text().splitlines()
    assert len(lines) == 111
    assert re.fullmatch(r"20\S+Z number 77", lines[0])


def test_memory_hog_is_stopped_and_the_page_warns(desk: Desk, own_session: str) -> None:
    desk.go("/sessions")
    hog = desk.carrel.carrel(
        "session", "exec", own_session, "--", "python3", "-c", "bytearray(10**9)[:] = b'x' * 10**9"
    )
    assert hog.returncode == 137
    expect(desk.row(own_session).get_by_role("img", name="Warning")).to_be_visible(timeout=STARTS_MS)
    expect(desk.row(own_session)).to_contain_text("Running")
    warning = desk.detail(own_session).get_by_role("alert").first
    expect(warning).to_contain_text(re.compile(r"\bmemory\b"))
    expect(warning).not_to_contain_text("out_of_memory")


def test_terminate_asks_first(desk: Desk, own_session: str) -> None:
    desk.go("/sessions")
    terminate = desk.row(own_session).get_by_role("button", name="Terminate")
    terminate.click()
    question = desk.page.get_by_role("dialog", name="Terminate session")
    expect(question).to_contain_text(own_session)
    expect(question).to_contain_text("cannot be undone")
    expect(question.get_by_role("button", name="Keep")).to_be_focused()
    question.get_by_role("button", name="Keep").click()
    expect(desk.row(own_session)).to_contain_text("Running")
    terminate.click()
    question.get_by_role("button", name="Terminate").click()
    desk.expect_state(own_session, "Terminated")


def test_what_one_browser_ends_the_other_sees_at_once(open_desk: Opener, own_session: str) -> None:
    here, there = open_desk(), open_desk()
    for desk in (here, there):
        desk.go("/sessions")
        expect(desk.row(own_session)).to_contain_text("Running")
    here.row(own_session).get_by_role("button", name="Terminate").click()
    question = here.page.get_by_role("dialog", name="Terminate session")
    question.get_by_role("button", name="Terminate").click()
    expect(there.row(own_session)).to_contain_text("Terminat", timeout=2_000)
    there.expect_state(own_session, "Terminated")


def test_ended_session_leaves_the_live_list_and_keeps_its_duration(desk: Desk, own_session: str) -> None:
    desk.go("/sessions")
    expect(desk.row(own_session)).to_contain_text("Running")
    desk.carrel.carrel("session", "rm", "--yes", own_session, "--force")
    desk.expect_state(own_session, "Terminated")
    expect(desk.row(own_session)).to_be_hidden(timeout=20_000)
    desk.page.get_by_text("Ended", exact=True).first.click()
    expect(desk.page.get_by_role("columnheader", name="Duration")).to_be_visible()
    cell = desk.row(own_session).locator("[data-column=duration]")
    duration = cell.inner_text()
    expect(desk.row(own_session).locator("[data-column=ended]")).to_contain_text("20")
    desk.page.reload()
    expect(cell).to_have_text(duration)


def test_list_is_filtered_and_grouped_by_its_address(desk: Desk, running_session: str) -> None:
    desk.go("/sessions")
    expect(desk.row(running_session)).to_contain_text("default")
    desk.page.get_by_role("button", name="More filters").click()
    more = desk.page.get_by_role("dialog")
    more.get_by_label("Group by project").check()
    expect(desk.page.get_by_role("rowheader", name="default")).to_be_visible()
    more.get_by_role("combobox", name="State").click()
    desk.page.get_by_role("option", name="Pending").click()
    expect(desk.row(running_session)).to_be_hidden()
    expect(desk.page).to_have_url(re.compile(r"by=project.*state=PENDING|state=PENDING.*by=project"))
    desk.go("/sessions?group=default&by=project&kind=interactive")
    expect(desk.row(running_session)).to_be_visible()
    desk.go("/sessions?node=absent")
    expect(desk.page.get_by_text("No sessions match")).to_be_visible()


def test_name_is_a_link_and_twenty_rows_fit(desk: Desk, running_session: str) -> None:
    desk.go("/sessions")
    row = desk.row(running_session)
    with desk.page.context.expect_page() as other:
        row.get_by_role("link", name=running_session).click(modifiers=["ControlOrMeta"])
    expect(other.value.get_by_role("dialog", name=running_session)).to_be_visible()
    body, table = row.bounding_box(), desk.page.get_by_role("table").locator("..").bounding_box()
    assert body
    assert table
    assert (table["height"] - 33) // body["height"] >= 20


def test_session_made_elsewhere_appears_by_itself(desk: Desk, carrel: Running) -> None:
    desk.go("/sessions")
    expect(desk.page.get_by_role("button", name="Start a session")).to_be_visible()
    carrel.carrel("session", "create", *SMALL, "--name", "from_elsewhere")
    expect(desk.row("from_elsewhere")).to_be_visible(timeout=2_000)
    desk.expect_state("from_elsewhere", "Running")
    carrel.carrel("session", "rm", "--yes", "from_elsewhere", "--force")
    desk.expect_state("from_elsewhere", "Terminated")
