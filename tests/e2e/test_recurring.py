"""Recurring runs: made from a definition, run, paused, changed and deleted, in three languages."""

import re

from playwright.sync_api import expect

from e2e.conftest import SMALL, Opener
from e2e.desk import STARTS_MS, Desk

JOB = "image: starter\nkind: batch\ncommand: [sh, -c, 'echo of-the-night']\ncpu: 0.25\nmem: 256m\n"


def test_recurring_run_is_made_run_paused_changed_and_deleted(desk: Desk) -> None:
    page = desk.page
    desk.go("/sessions")
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Recurring runs").click()
    expect(page.get_by_text("No recurring runs yet")).to_be_visible()
    # 1. Made: the form shows the next times as they are edited.
    page.get_by_role("button", name="New recurring run").click()
    form = page.get_by_role("dialog", name="New recurring run")
    form.get_by_label("Name").fill("report_run")
    form.get_by_role("combobox", name="Run this").click()
    page.get_by_role("option", name="Every week").click()
    form.get_by_label("At", exact=True).fill("22:30")
    times = form.locator("[data-times] time")
    expect(times).to_have_count(5)
    expect(times.first).to_have_text(re.compile("Mon.*22:30"))
    expect(form.get_by_text("Monday · 22:30")).to_be_visible()
    form.get_by_role("combobox", name="Run this").click()
    page.get_by_role("option", name="Cron expression").click()
    expression = form.get_by_role("textbox", name="Cron expression")
    expect(expression).to_have_value("30 22 * * 1")
    expression.fill("61 * * * *")
    expect(form.get_by_text("is not a cron expression with a time.")).to_be_visible()
    expression.fill("*/15 * * * *")
    expect(form.get_by_text("Every 15 minutes")).to_be_visible()
    form.get_by_text("YAML", exact=True).click()
    form.get_by_label("Definition in YAML").fill("image: [")
    expect(form.get_by_text("The definition cannot be used")).to_be_visible()
    form.get_by_label("Definition in YAML").fill(JOB)
    expect(form.get_by_text("echo of-the-night", exact=True)).to_be_visible()
    form.get_by_role("button", name="Create").click()
    # 2. Run on request: its session is in the history, with its result.
    details = page.get_by_role("dialog", name="report_run")
    details.get_by_role("button", name="Run now", exact=True).click()
    runs = details.get_by_role("table", name="Runs")
    expect(runs).to_contain_text("Succeeded", timeout=STARTS_MS)
    expect(desk.row("report_run")).to_contain_text("Succeeded")
    # 3. Paused and resumed.
    details.get_by_role("button", name="Pause", exact=True).click()
    expect(desk.row("report_run")).to_contain_text("Paused")
    details.get_by_role("button", name="Resume", exact=True).click()
    expect(desk.row("report_run")).not_to_contain_text("Paused")
    # 4. Changed: the form has its definition.
    details.get_by_role("button", name="Edit", exact=True).click()
    edited = page.get_by_role("dialog", name="Edit report_run")
    expect(edited.get_by_label("Definition in YAML")).to_have_value(re.compile("of-the-night"))
    edited.get_by_label("Name").fill("report_hourly")
    edited.get_by_role("combobox", name="Run this").click()
    page.get_by_role("option", name="Every hour").click()
    edited.get_by_role("button", name="Save").click()
    expect(desk.row("report_hourly")).to_contain_text("Every hour (:00)")
    # 5. The session of the run, by its link; and the schedule deleted.
    details = page.get_by_role("dialog", name="report_hourly")
    details.get_by_role("link", name=re.compile("report_run-")).click()
    expect(page.get_by_role("dialog", name=re.compile("report_run-"))).to_be_visible()
    page.go_back()
    page.get_by_role("button", name="Delete: report_hourly").click()
    asked = page.get_by_role("dialog", name="Delete recurring run")
    expect(asked).to_contain_text("carrel schedule rm report_hourly")
    asked.get_by_role("button", name="Delete").click()
    expect(desk.row("report_hourly")).to_have_count(0)


def test_definition_is_copied_from_a_session_with_its_folders(desk: Desk, open_desk: Opener) -> None:
    made = desk.carrel.carrel("vfolder", "create", "nightly-data")
    assert made.returncode == 0, made.stderr
    words = ("--detach", "--name", "model_run", "-v", "nightly-data:/data:ro", "--env", "A=b")
    done = desk.carrel.carrel("run", *SMALL, *words, "--", "true")
    assert done.returncode == 0, done.stderr
    page = desk.page
    desk.go("/sessions/recurring?form=new")
    form = page.get_by_role("dialog", name="New recurring run")
    form.get_by_label("Name").fill("copied_run")
    form.get_by_text("Existing session", exact=True).click()
    form.get_by_label("Session to copy").fill("model_run")
    page.get_by_role("option", name="model_run").click()
    expect(form.get_by_text("nightly-data → /data (read-only)")).to_be_visible()
    form.get_by_role("button", name="Create").click()
    expect(page.get_by_role("dialog", name="copied_run")).to_contain_text("nightly-data → /data")
    shown = desk.carrel.carrel("schedule", "show", "copied_run", "-o", "jsonpath={.session.env.A}")
    assert shown.stdout.strip() == "b", shown.stderr
    # Times and intervals in the words of another language.
    korean = open_desk(locale="ko-KR")
    korean.go("/sessions/recurring")
    expect(korean.row("copied_run")).to_contain_text("매일 · 06:00")
    assert desk.carrel.carrel("schedule", "rm", "copied_run", "--yes").returncode == 0
