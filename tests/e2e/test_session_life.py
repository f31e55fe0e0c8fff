"""Restarting, extending and starting again; the warning before a time limit; and trying idle rules."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from playwright.sync_api import expect

from carrel.db.embedded import Embedded
from e2e.desk import STARTS_MS, Desk
from e2e.people import fresh
from e2e.running import Running

Database = psycopg.Connection[tuple[object, ...]]


@pytest.fixture
def database(carrel: Running) -> Iterator[Database]:
    with psycopg.connect(Embedded(carrel.data_dir / "postgres").url, autocommit=True) as connection:
        yield connection


def test_a_session_is_restarted_in_place_and_forgets_its_files(
    desk: Desk, carrel: Running, own_session: str
) -> None:
    page = desk.page
    carrel.shell(own_session, "touch /home/work/left-over")
    desk.go("/sessions")
    drawer = desk.detail(own_session)
    identity = drawer.get_by_role("definition").first.inner_text()
    drawer.get_by_role("button", name="Restart…").click()
    dialog = page.get_by_role("dialog", name="Restart session")
    expect(dialog).to_contain_text("files outside mounted folders are deleted")
    dialog.get_by_role("button", name="Restart", exact=True).click()
    expect(dialog).to_be_hidden()
    drawer.get_by_role("tab", name="History").click()
    expect(drawer.get_by_role("tabpanel")).to_contain_text("Restarted by", timeout=STARTS_MS)
    desk.expect_state(own_session, "Running")
    drawer.get_by_role("tab", name="Overview").click()
    assert drawer.get_by_role("definition").first.inner_text() == identity
    assert carrel.shell(own_session, "test -e /home/work/left-over || echo gone") == "gone\n"


@pytest.fixture
def limited(carrel: Running) -> Iterator[str]:
    """The name of a running session with a time limit of an hour."""
    name = fresh("limited")
    done = carrel.carrel(
        *("session", "create", "--image", "starter", "--cpu", "0.25", "--mem", "256m", "--name", name),
        *("--time-limit", "1h", "--wait"),
    )
    assert done.returncode == 0, done.stderr
    yield name
    carrel.carrel("session", "rm", "--yes", name, "--force")


def test_a_session_is_warned_before_its_time_limit_extended_and_started_again(
    desk: Desk, database: Database, limited: str
) -> None:
    page, name = desk.page, limited
    desk.go("/sessions")
    desk.expect_state(name, "Running")
    # 1. Six minutes before its end it is warned, and the page says so by itself.
    early = (
        "UPDATE sessions SET created_at = created_at - interval '1 h', started_at = now() - interval '55 min'"
    )
    database.execute(f"{early} WHERE name = %s", [name])
    expect(page.get_by_text(f"{name} reaches its time limit soon")).to_be_visible()
    page.get_by_role("button", name=re.compile("^Notifications")).click()
    bell = page.get_by_role("dialog", name="Notifications")
    expect(bell).to_contain_text(re.compile(rf"{name}\s*Time limit: terminates in [45]m \d\ds\."))
    expect(bell.get_by_role("button", name="Extend…")).to_be_visible()
    page.keyboard.press("Escape")
    # 2. Extended by an hour, the warning is withdrawn.
    drawer = desk.detail(name)
    warning = drawer.get_by_role("alert").filter(has_text="Time limit: terminates")
    warning.get_by_role("button", name="Extend…").click()
    page.get_by_role("button", name="Extend", exact=True).click()
    expect(warning).to_be_hidden()
    expect(drawer.get_by_text("2h 00m", exact=True)).to_be_visible()
    # 3. It ends at the limit, and starts again with the same definition.
    late = "UPDATE sessions SET created_at = created_at - interval '2 h', started_at = now() - interval '121 min'"
    database.execute(f"{late} WHERE name = %s", [name])
    expect(drawer).to_contain_text("It reached its time limit of 2:00:00.", timeout=STARTS_MS)
    drawer.get_by_role("button", name="Start again").click()
    expect(page).to_have_url(re.compile("session="))
    again = page.get_by_role("dialog", name=name)
    expect(again).to_contain_text("Running", timeout=STARTS_MS)
    # The definition has the extended limit.
    expect(again.get_by_text("2h 00m", exact=True)).to_be_visible()


def test_a_dotfile_is_added_changed_and_removed_and_new_sessions_have_it(desk: Desk, carrel: Running) -> None:
    page = desk.page
    desk.go("/settings/dotfiles")
    page.get_by_role("button", name="New dotfile").first.click()
    form = page.get_by_role("dialog", name="New dotfile")
    form.get_by_label("Path").fill(".e2e-rc")
    form.get_by_label("Content").fill("from the page\n")
    form.get_by_role("button", name=re.compile("^(Add|Save)")).click()
    row = page.get_by_role("row").filter(has_text=".e2e-rc")
    expect(row).to_be_visible()
    name = fresh("dotted")
    try:
        done = carrel.carrel(
            *(
                "session",
                "create",
                "--image",
                "starter",
                "--cpu",
                "0.25",
                "--mem",
                "256m",
                "--name",
                name,
                "--wait",
            )
        )
        assert done.returncode == 0, done.stderr
        assert carrel.shell(name, "cat ~/.e2e-rc; stat -c %a ~/.e2e-rc") == "from the page\n600\n"
    finally:
        carrel.carrel("session", "rm", "--yes", name, "--force")
    row.get_by_role("button", name=re.compile("Remove|Delete")).click()
    page.get_by_role("dialog").get_by_role("button", name=re.compile("^(Remove|Delete)")).click()
    expect(row).to_be_hidden()
    assert ".e2e-rc" not in carrel.carrel("dotfile", "ls").stdout


def test_idle_rules_are_tried_on_the_last_month_before_they_are_saved(
    desk: Desk, database: Database, own_session: str
) -> None:
    page = desk.page
    long_ago = datetime.now(UTC) - timedelta(hours=5)
    [[session]] = database.execute(
        "UPDATE sessions SET started_at = %s WHERE name = %s RETURNING id", [long_ago, own_session]
    ).fetchall()
    database.execute(
        "INSERT INTO usage_samples (container_id, at, cpu_millis, mem_bytes)"
        " SELECT c.id, at, 2, 0 FROM containers c, generate_series(CAST(%s AS timestamptz), now() - interval"
        " '3 min', interval '20 s') at WHERE c.session_id = %s ON CONFLICT DO NOTHING",
        [long_ago, session],
    )
    # They may be earlier than what has been packed already.
    database.execute("DELETE FROM usage_progress")
    desk.go("/policies?form=new")
    form = page.get_by_role("dialog", name="New policy for keypairs")
    form.get_by_label("Idle by utilization: not limited").uncheck()
    form.get_by_role("button", name="Try on the last month").click()
    expect(form.get_by_role("status").filter(has_text="would have been ended")).to_be_visible()
    table = form.get_by_role("table", name="Sessions that would have been ended")
    row = table.get_by_role("row").filter(has_text=own_session)
    expect(row).to_contain_text(re.compile(r"low utilization for 1 h \(CPU 0\.\d %, below 5 %\)"))
    with page.expect_download() as file:
        form.get_by_role("button", name="Export as CSV").click()
    text = file.value.path().read_text()
    assert f"{session},{own_session}," in text
    form.get_by_label("CPU", exact=True).fill("6")
    expect(form.get_by_text("The rules have changed since.")).to_be_visible()
