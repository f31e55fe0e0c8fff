"""Usage over time, as charts and as tables."""

import json
import re

from playwright.sync_api import expect

from e2e.desk import Desk


def test_a_chart_of_usage_shows_mean_and_peak_a_table_and_zooms(desk: Desk, running_session: str) -> None:
    page = desk.page
    desk.go(f"/sessions?q={running_session}")
    page.get_by_role("row").filter(has_text=running_session).get_by_text(running_session).click()
    page.get_by_role("tab", name="Resource usage").click()
    cpu = page.get_by_role("figure", name="CPU cores")
    expect(cpu).to_contain_text("peak", timeout=60_000)
    expect(cpu).to_contain_text("Allocated")
    cpu.get_by_text("Show as table").click()
    table = cpu.get_by_role("table", name="CPU cores")
    expect(table.get_by_role("row").nth(1)).to_contain_text("0.75")
    # A period dragged over in one chart is shown by all, with the finest points of it, until the zoom is reset.
    box = cpu.locator(".u-over").bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.2, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.4, y, steps=4)
    page.mouse.up()
    expect(page.get_by_text("No measurements in this time range")).to_be_visible()
    page.get_by_role("button", name="Reset zoom").click()
    expect(page.get_by_role("figure", name="Memory")).to_contain_text("mean")


def test_dashboard_shows_the_installation_and_oneself_over_time(desk: Desk, running_session: str) -> None:
    desk.go("/dashboard")
    site = desk.page.get_by_role("region", name="Installation")
    expect(site.get_by_role("figure", name="CPU", exact=True)).to_contain_text("Capacity", timeout=90_000)
    expect(site.get_by_role("figure", name="Sessions", exact=True)).to_contain_text("Pending")
    expect(desk.page.get_by_role("region", name="Top projects")).to_contain_text("default/default")
    idle = desk.page.get_by_role("region", name="Idle sessions")
    expect(idle).to_contain_text(re.compile(rf"{running_session}|No idle sessions"))
    expect(desk.page.get_by_role("region", name="My usage over time")).to_be_visible()
    # The same command gives the same figures.
    done = desk.carrel.carrel("usage", "history", "site")
    assert "cpu.capacity" in done.stdout, done.stderr


def test_a_node_shows_the_load_of_its_whole_machine(desk: Desk) -> None:
    page = desk.page
    done = desk.carrel.carrel("node", "ls", "-o", "json")
    [node] = json.loads(done.stdout)["items"]
    desk.go(f"/resources?open={node['id']}")
    drawer = page.get_by_role("dialog", name=node["name"])
    host = drawer.get_by_role("region", name="Host usage")
    # Two readings a minute apart.
    expect(host).to_be_visible(timeout=200_000)
    for name in ("CPU", "Memory", "Disk space"):
        expect(host.get_by_role("meter", name=name)).to_have_attribute(
            "aria-valuetext", re.compile(r" of .*%")
        )
    expect(host).to_contain_text(re.compile(r"Network: .*/s received, .*/s sent"))
    expect(host).to_contain_text(re.compile(r"Disk: .*/s read, .*/s written"))
    expect(drawer.get_by_role("figure", name="CPU", exact=True)).to_contain_text("Whole host")
    for name in ("Network of the host", "Disk throughput of the host", "Disk space of the host"):
        expect(drawer.get_by_role("figure", name=name)).to_contain_text("peak")
    expect(page.get_by_role("row").filter(has_text=node["name"])).to_contain_text(
        re.compile(r"\d+% CPU, \d+% memory")
    )
    # The command line shows the same.
    assert "machine memory" in desk.carrel.carrel("node", "show", node["id"]).stdout
