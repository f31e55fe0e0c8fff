"""`carrel audit` against the real application, and a saved trail that somebody has altered."""

import re
from pathlib import Path

import pytest
from audit_kit import intruder, seal, write
from command_line import CommandLine, command_line
from installation import Api

from carrel.audit import retention
from carrel.core.clock import SystemClock


@pytest.fixture
async def admin(api: Api, tmp_path: Path) -> CommandLine:
    """The command line of a superadmin, and a trail of eight sealed entries."""
    line = await command_line(api, "superadmin", tmp_path)
    await write(api.database, api.people.user, 7)
    await seal(api.database)
    return line


async def _count(admin: CommandLine) -> int:
    return int((await admin.as_json("audit", "verify"))["checked"])


async def test_entries_are_listed_and_narrowed(admin: CommandLine):
    listed = await admin.ok("audit", "ls", "--kind", "session")
    assert listed.count("session.create") == 7
    assert "user@example.org" in listed
    assert "desk-3" in await admin.ok("audit", "ls", "--search", "desk-3")
    entries = await admin.as_json("audit", "ls", "--object", "session2")
    assert [item["object"]["name"] for item in entries["items"]] == ["desk-2"]
    assert len((await admin.as_json("audit", "ls", "--limit", "0"))["items"]) >= 8
    few = await admin.run("audit", "ls", "--limit", "2")
    assert "the newest 2" in few.stderr
    assert (await admin.as_json("audit", "ls", "--outcome", "refused"))["items"] == []


async def test_the_servers_trail_is_proven_and_compared_with_a_noted_head(api: Api, admin: CommandLine):
    output = await admin.ok("audit", "verify")
    head = re.search(r"\d+:[0-9a-f]{64}", output)
    assert head, output
    assert "are verified" in output
    await admin.ok("audit", "verify", "--expect", head[0])
    wrong = head[0][:-1] + ("0" if head[0][-1] != "0" else "1")
    assert (await admin.run("audit", "verify", "--expect", wrong)).code == 1
    assert (await admin.run("audit", "verify", "--expect", "7")).code == 2
    with intruder(api.database.url) as connection:
        connection.execute("DELETE FROM audit WHERE position = 4")
    done = await admin.run("audit", "verify")
    assert done.code == 1
    assert "missing: Entry 4 is missing." in done.stderr


async def test_a_saved_trail_is_proven_without_a_server(api: Api, admin: CommandLine, tmp_path: Path):
    saved = tmp_path / "trail.jsonl"
    await seal(api.database)
    await admin.ok("audit", "export", str(saved))
    assert not saved.with_suffix(".jsonl.part").exists()
    entries = await _count(admin)
    proof = await admin.as_json("audit", "verify", str(saved))
    assert (proof["checked"], proof["waiting"], proof["faults"]) == (entries, 1, [])
    assert proof["head"]["position"] == entries
    head = f"{proof['head']['position']}:{proof['head']['hash']}"
    await admin.ok("audit", "verify", str(saved), "--expect", head)
    lines = saved.read_bytes().splitlines(keepends=True)
    saved.write_bytes(b"".join(reversed(lines)))
    await admin.ok("audit", "verify", str(saved))


@pytest.mark.parametrize(
    ("alter", "message"),
    [
        (lambda lines: [line.replace(b"desk-3", b"desk-9") for line in lines], "altered: Entry"),
        (lambda lines: [line for line in lines if b"desk-3" not in line], "missing: Entry"),
        (
            lambda lines: [line for line in lines if b'"position": 1,' not in line],
            "cut: The entries up to position 1",
        ),
        (lambda lines: [*lines, lines[3]], "more than once"),
        (lambda lines: [*lines, b"hello\n"], "is not a line of an export"),
        (lambda lines: [line.replace(b'"before": "0', b'"before": "1') for line in lines], "altered: Entry"),
    ],
)
async def test_an_altered_file_is_found_out(
    api: Api, admin: CommandLine, tmp_path: Path, alter, message: str
):
    await seal(api.database)
    saved = tmp_path / "trail.jsonl"
    await admin.ok("audit", "export", str(saved))
    lines = saved.read_bytes().splitlines(keepends=True)
    assert any(b'"before": "0' in line for line in lines)
    saved.write_bytes(b"".join(alter(lines)))
    done = await admin.run("audit", "verify", str(saved))
    assert done.code == 1
    assert message in done.stderr


async def test_a_file_cut_at_its_end_is_found_by_a_noted_head(api: Api, admin: CommandLine, tmp_path: Path):
    await seal(api.database)
    saved = tmp_path / "trail.jsonl"
    await admin.ok("audit", "export", str(saved))
    proof = await admin.as_json("audit", "verify", str(saved))
    last = proof["head"]["position"]
    lines = [
        line
        for line in saved.read_bytes().splitlines(keepends=True)
        if f'"position": {last},'.encode() not in line
    ]
    saved.write_bytes(b"".join(lines))
    await admin.ok("audit", "verify", str(saved))
    done = await admin.run("audit", "verify", str(saved), "--expect", f"{last}:{proof['head']['hash']}")
    assert "cut: The file ends" in done.stderr


async def test_a_file_that_begins_where_retention_cut_is_whole(api: Api, admin: CommandLine, tmp_path: Path):
    saved = tmp_path / "trail.jsonl"
    await seal(api.database)
    now = SystemClock().now()
    with intruder(api.database.url) as connection:
        connection.execute("UPDATE audit SET at = at - interval '90 days', position = NULL, hash = NULL")
    await seal(api.database)
    await write(api.database, api.people.user, 3)
    async with api.database.transaction() as tx:
        await retention.cut(tx, before=retention.oldest_kept(now, 30), now=now)
    await seal(api.database)
    await admin.ok("audit", "export", str(saved))
    output = await admin.ok("audit", "verify", str(saved))
    assert "cut by retention" in output
    lines = [line for line in saved.read_bytes().splitlines(keepends=True) if b"audit.prune" not in line]
    saved.write_bytes(b"".join(lines))
    assert "cut: The entries up to position" in (await admin.run("audit", "verify", str(saved))).stderr


async def test_some_of_the_entries_are_proven_when_that_is_said(api: Api, admin: CommandLine, tmp_path: Path):
    saved = tmp_path / "some.jsonl"
    await admin.ok("audit", "export", "--search", "desk-3", str(saved))
    await admin.ok("audit", "export", "--search", "desk-5", str(tmp_path / "more.jsonl"))
    saved.write_bytes(saved.read_bytes() + (tmp_path / "more.jsonl").read_bytes())
    assert (await admin.run("audit", "verify", str(saved))).code == 1
    assert "2 entries are" in await admin.ok("audit", "verify", "--partial", str(saved))


async def test_a_table_goes_to_standard_output_or_to_a_file(admin: CommandLine, tmp_path: Path):
    assert (await admin.ok("audit", "export", "--format", "csv", "--kind", "session")).startswith(
        "position,at,"
    )
    await admin.ok("audit", "export", str(tmp_path / "trail.csv"))
    assert (tmp_path / "trail.csv").read_text().startswith("position,at,")
    assert (await admin.run("audit", "export", str(tmp_path / "none" / "trail.csv"))).code == 4
    assert (await admin.run("audit", "verify", str(tmp_path / "none.jsonl"))).code == 4


async def test_only_superadmins_prove_the_servers_trail(api: Api, tmp_path: Path):
    user = await command_line(api, "user", tmp_path)
    done = await user.run("audit", "verify")
    assert done.code == 3
    assert "policy.forbidden" in done.stderr
