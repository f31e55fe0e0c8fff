"""The control plane dies while people work."""

from playwright.sync_api import expect

from e2e.desk import STARTS_MS, Desk


def test_killed_server_costs_nobody_a_session(desk: Desk, running_session: str) -> None:
    desk.go("/sessions")
    expect(desk.row(running_session)).to_contain_text("Running")
    # What runs inside goes on: it counts while nobody controls it.
    desk.carrel.shell(
        running_session, "nohup sh -c 'while :; do date +%s%N > beat; sleep .1; done' >/dev/null 2>&1 &"
    )
    desk.page.evaluate("window.never_reloaded = true")
    lost = desk.page.get_by_text("Connection lost.")
    desk.carrel.kill_api()
    expect(lost).to_be_visible()
    expect(lost).to_be_hidden(timeout=STARTS_MS)
    expect(desk.row(running_session)).to_contain_text("Running")
    assert desk.page.evaluate("window.never_reloaded")
    desk.carrel.shell(running_session, 'a=$(cat beat); until [ "$(cat beat)" != "$a" ]; do sleep .05; done')
    # And the page is live again.
    desk.carrel.carrel("session", "rename", running_session, "renamed_desk")
    expect(desk.row("renamed_desk")).to_be_visible()
    desk.carrel.carrel("session", "rename", "renamed_desk", running_session)
    expect(desk.row(running_session)).to_be_visible()


def test_terminal_comes_back_after_the_server_was_killed(desk: Desk, running_session: str) -> None:
    shell = desk.terminal(running_session)
    desk.carrel.kill_api()
    shell.expect("This is a new shell", timeout=STARTS_MS)
    shell.expect_open()
    shell.enter("echo back''again")
    shell.expect("backagain")
