"""The server is away for ten seconds in the middle of what people do: nothing is lost, nor done twice."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import expect

from e2e.desk import STARTS_MS, Desk
from e2e.people import administrator, fresh

AWAY_MS = 10_000


@contextmanager
def away(desk: Desk) -> Iterator[None]:
    """No process answers for ten seconds, in which the block acts; then the server comes back."""
    page, supervisor = desk.page, desk.carrel.supervisor
    page.evaluate("window.never_reloaded = true")
    supervisor.suspend()
    try:
        desk.carrel.kill_api()
        since = page.evaluate("performance.now()")
        yield
        page.wait_for_function("end => performance.now() > end", arg=since + AWAY_MS)
    finally:
        supervisor.resume()
    expect(page.get_by_text("Connection lost.")).to_have_count(0, timeout=STARTS_MS)
    assert page.evaluate("window.never_reloaded")


def test_session_starts_once_when_the_server_is_back(desk: Desk) -> None:
    name = fresh("away")
    drawer = desk.filled_launcher(Name=name, CPU_cores="0.1")
    expect(drawer.get_by_text("Starts now")).to_be_visible()
    with away(desk):
        drawer.get_by_role("button", name="Start", exact=True).click()
    desk.expect_state(name, "Running")
    with administrator(desk.carrel) as api:
        assert len(api.get("/sessions", params={"q": name}).json()["items"]) == 1
    desk.carrel.carrel("session", "rm", "--yes", name, "--force")


def test_session_is_terminated_when_the_server_is_back(desk: Desk, own_session: str) -> None:
    desk.go("/sessions")
    desk.expect_state(own_session, "Running")
    with away(desk):
        desk.row(own_session).get_by_role("button", name="Terminate").click()
        desk.page.get_by_role("dialog").get_by_role("button", name="Terminate").click()
    expect(desk.row(own_session)).to_have_count(0, timeout=STARTS_MS)


def test_terminal_goes_on_when_the_server_is_back(desk: Desk, own_session: str) -> None:
    shell = desk.terminal(own_session)
    with away(desk):
        shell.enter("echo while''away")
    shell.expect("This is a new shell", timeout=STARTS_MS)
    shell.expect_open()
    shell.enter("echo back''again")
    shell.expect("backagain")


def test_upload_is_completed_when_the_server_is_back(desk: Desk, tmp_path: Path) -> None:
    name = fresh("away")
    large = tmp_path / "large.bin"
    large.write_bytes(bytes(3 << 20))
    with administrator(desk.carrel) as api:
        folder = api.post("/vfolders", json={"name": name}).json()["id"]
        desk.go(f"/data/{folder}")
        expect(desk.page.get_by_role("heading", level=1)).to_have_text(name)
        with away(desk):
            desk.page.get_by_role("button", name="Upload", exact=True).click()
            with desk.page.expect_file_chooser() as chooser:
                desk.page.get_by_role("menuitem", name="Files").click()
            chooser.value.set_files(large)
        expect(desk.row("large.bin")).to_contain_text("3 MiB", timeout=STARTS_MS)
        api.post(f"/vfolders/{folder}/trash")
        api.delete(f"/vfolders/{folder}", params={"name": name})


def test_form_is_kept_and_sent_when_the_server_is_back(desk: Desk) -> None:
    email = f"{fresh('away')}@example.org"
    desk.go("/users?make=one")
    drawer = desk.page.get_by_role("dialog", name="New user")
    drawer.get_by_label("E-mail").fill(email)
    drawer.get_by_role("textbox", name="Name", exact=True).fill("Ada Lovelace")
    create = drawer.get_by_role("button", name="Create")
    with away(desk):
        create.click()
    expect(drawer.get_by_label("E-mail")).to_have_value(email)
    create.click()
    expect(drawer.get_by_role("alert")).to_contain_text("Send this password to the user")


def test_settings_are_kept_and_saved_when_the_server_is_back(desk: Desk) -> None:
    page = desk.page
    desk.go("/site")
    title = page.get_by_label("Failed attempts until an account is locked")
    before = title.input_value()
    title.fill("17")
    save = page.get_by_role("button", name="Save", exact=True)
    with away(desk):
        save.click()
    expect(title).to_have_value("17")
    save.click()
    with administrator(desk.carrel) as api:
        expect(save).to_be_hidden()
        assert api.get("/site").json()["lock_attempts"] == 17
        api.patch("/site", json={"lock_attempts": int(before)})


def test_pages_and_searches_show_their_content_when_the_server_is_back(desk: Desk, own_session: str) -> None:
    page = desk.page
    desk.go("/sessions")
    desk.expect_state(own_session, "Running")
    with away(desk):
        page.get_by_role("searchbox").fill(own_session)
    expect(desk.row(own_session)).to_contain_text("Running", timeout=STARTS_MS)
    expect(page).to_have_url(re.compile(own_session))
    with away(desk):
        page.get_by_role("link", name="Audit", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Audit")
    expect(page.get_by_role("row").nth(1)).to_be_visible(timeout=STARTS_MS)
