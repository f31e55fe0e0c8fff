"""Usage of a session and statistics of a period on the command line."""

import csv
import io
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from command_line import CommandLine, command_line
from databases import sql
from installation import Api
from usage_kit import GIB, packed, ran, sampled

MIDNIGHT = datetime(2026, 3, 2, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture
async def command(api: Api, tmp_path: Path) -> CommandLine:
    return await command_line(api, "user", tmp_path)


@pytest.fixture
async def past(api: Api) -> str:
    """The name of a session that ran for two hours."""
    _, main = await ran(api.database, api.people, MIDNIGHT, MIDNIGHT + 2 * HOUR, name="train", image="a:1")
    measures = {"cpu_millis": 500, "mem_bytes": GIB, "rx_rate": 2048}
    await sampled(api.database, main, MIDNIGHT, MIDNIGHT + HOUR, **measures)
    await packed(api.database, MIDNIGHT + timedelta(days=1, hours=1))
    return "train"


async def test_usage_of_a_session_is_a_line_per_measure(past: str, command: CommandLine) -> None:
    period = ("--from", "2026-03-02", "--to", "2026-03-02T01:00")
    shown = await command.ok("session", "usage", past, *period)
    lines = {line.split()[1]: line.split()[2:] for line in shown.splitlines()[1:]}
    assert lines["cpu"][:3] == ["0.5", "0.5", "0.5"]
    assert lines["mem"][:6] == ["1", "GiB"] * 3
    assert lines["received"][:6] == ["2", "KiB/s"] * 3
    assert "accelerator" not in lines
    view = await command.as_json("session", "usage", past, *period, "--step", "3600", "--container", "main")
    assert (view["step_s"], len(view["times"])) == (3600, 1)
    assert "no measurements" in (await command.run("session", "usage", past)).stderr
    wrong = await command.run("session", "usage", past, *period, "--container", "sub1")
    assert "container.not_found" in wrong.stderr


async def test_statistics_of_a_month_are_a_table_or_a_file(api: Api, past: str, command: CommandLine) -> None:
    await sql(api.database, "UPDATE usage_days SET waits = '{\"26\": 1}' WHERE slot = 'sessions'")
    shown = await command.ok("stats", "--month", "2026-03", "--by", "image")
    rows = [line.split() for line in shown.splitlines()]
    assert rows[1][:6] == ["a:1", "cpu", "4.0", "2", "25", "%"]
    assert rows[1][6:9] == ["1.5", past, "(user@example.org)"]
    assert ["a:1", "1", "10", "s", "10", "s", "10", "s", "2.0", "1.0"] in rows
    written = await command.ok("stats", "--month", "2026-03", "--by", "image", "--csv")
    assert [line["slot_hours"] for line in csv.DictReader(io.StringIO(written))] == ["4.0", "8.0"] * 2
    wrong = await command.run("stats", "--month", "2026-13")
    assert (wrong.code, "is not a month" in wrong.stderr) == (2, True)
    refused = await command.run("stats", "site")
    assert (refused.code, "policy.forbidden" in refused.stderr) == (3, True)


async def test_prices_are_set_by_slot(api: Api, tmp_path: Path) -> None:
    admin = await command_line(api, "superadmin", tmp_path)
    assert "cpu=0.02, mem=0.005" in await admin.ok("site", "set", "slot_prices=cpu=0.02,mem=0.005")
    assert (await admin.as_json("site", "show"))["slot_prices"] == {"cpu": 0.02, "mem": 0.005}
    assert "is not NAME=NUMBER" in (await admin.run("site", "set", "slot_prices=cpu=much")).stderr
    await admin.ok("site", "set", "slot_prices=")
    assert (await admin.as_json("site", "show"))["slot_prices"] == {}
