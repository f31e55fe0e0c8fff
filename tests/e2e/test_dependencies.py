"""Sessions that start after others: asked for in the launcher, seen as a graph that is live."""

import re

from playwright.sync_api import expect

from e2e.conftest import SMALL
from e2e.desk import STARTS_MS, Desk


def test_session_waits_for_another_one_and_the_graph_shows_both(desk: Desk) -> None:
    page = desk.page
    done = desk.carrel.carrel("run", *SMALL, "--detach", "--name", "prepare_data", "--", "sleep", "1000")
    assert done.returncode == 0, done.stderr
    # 1. Chosen in the launcher; it survives a reload, and the command line says the same.
    drawer = desk.filled_launcher(Name="train_after", CPU_cores="0.25", Memory="0.25")
    drawer.get_by_role("button", name="More options").click()
    drawer.get_by_role("button", name="Add session").click()
    chosen = drawer.get_by_label("Session 1", exact=True)
    chosen.fill("prepare")
    page.get_by_role("option", name=re.compile("prepare_data")).click()
    expect(drawer).to_contain_text("It waits for prepare_data to succeed.")
    expect(drawer.locator("code")).to_contain_text(re.compile("--after [a-z2-7]{12}"))
    page.wait_for_url(re.compile("prepare_data"))
    page.reload()
    expect(chosen).to_have_value("prepare_data")
    drawer.get_by_role("button", name="Add to queue", exact=True).click()
    expect(drawer).to_be_hidden()
    # 2. The list and the details say what it waits for.
    desk.go("/sessions?state=all")
    expect(desk.row("train_after")).to_contain_text(
        "It waits for prepare_data to succeed.", timeout=STARTS_MS
    )
    details = desk.detail("train_after")
    expect(details.get_by_role("region", name="Why is it waiting?")).to_contain_text("prepare_data")
    # 3. The graph, by the keyboard.
    details.get_by_role("tab", name="Dependencies").click()
    graph = page.get_by_role("list", name="Dependencies")
    expect(graph.get_by_role("link")).to_have_count(2)
    expect(graph.get_by_role("link").nth(1)).to_have_accessible_name(
        "train_after Pending starts after prepare_data (has succeeded)"
    )
    first = graph.get_by_role("link", name=re.compile("^prepare_data"))
    first.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="prepare_data")).to_be_visible()
    expect(graph.get_by_role("link", name=re.compile("^prepare_data"))).to_have_attribute(
        "aria-current", "page"
    )
    # 4. It is live: the end of the first one cancels the other.
    assert desk.carrel.carrel("session", "rm", "--yes", "--force", "prepare_data").returncode == 0
    later = graph.get_by_role("link", name=re.compile("^train_after Cancelled"))
    expect(later).to_be_visible(timeout=STARTS_MS)
    later.click()
    page.get_by_role("dialog", name="train_after").get_by_role("tab", name="History").click()
    expect(page.get_by_role("dialog", name="train_after")).to_contain_text(
        "prepare_data was cancelled, and this session was to start after its success."
    )
