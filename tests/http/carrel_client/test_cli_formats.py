"""What programs read from the command: formats of answers, lists that are watched, raw requests."""

import asyncio
import json
import re
import signal
from pathlib import Path

import pytest
import yaml
from command_line import CommandLine, command_line
from installation import Api

_SMALL = ("--cpu", "0.1", "--mem", "64m", "--image", "debian:12")
_UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d")


@pytest.fixture
async def user(living: Api, tmp_path: Path) -> CommandLine:
    return await command_line(living, "user", tmp_path)


async def test_all_formats_say_the_same_of_an_answer(user: CommandLine) -> None:
    await user.ok("ssh-key", "add", "desk")
    listed = await user.as_json("ssh-key", "ls")
    assert yaml.safe_load(await user.ok("ssh-key", "ls", "-o", "yaml")) == listed
    assert await user.ok("ssh-key", "ls", "-o", "jsonpath={.items[*].name}") == "desk\n"
    exact = await user.ok("ssh-key", "ls", "-o", "jsonpath={.items[0].created_at}")
    assert exact == listed["items"][0]["created_at"] + "\n"


async def test_several_answers_stay_apart(user: CommandLine) -> None:
    for name in ("train-3", "train-4"):
        await user.ok("session", "create", *_SMALL, "--name", name)
    words = ("session", "rm", "--yes", "train-3", "train-4")
    documents = list(yaml.safe_load_all(await user.ok(*words, "-o", "yaml")))
    assert [document["name"] for document in documents] == ["train-3", "train-4"]
    assert await user.ok(*words, "-o", "jsonpath={.name}") == "train-3\ntrain-4\n"


TABLES = [
    "session ls",
    "session show train-3",
    "session history train-3",
    "keypair ls",
    "token ls",
    "ssh-key ls",
    "vfolder ls",
    "vfolder show data",
    "vfolder access data",
    "vfolder tasks",
    "vfolder quota",
    "sign-in ls",
    "user ls",
    "events",
    "audit ls",
    "project ls",
    "storage-host ls",
    "policy mine",
    "group ls",
    "group show default",
    "scheduler queue",
    "whoami",
]
TABLES_OF_ADMINISTRATORS = [
    "user show user@example.org",
    "domain show default",
    "node show local",
    "storage-host show local",
    "node ls",
    "policy ls",
    "policy show default-keypair",
]


@pytest.mark.parametrize("who", ["user", "superadmin"])
async def test_times_in_tables_are_by_the_clock_of_the_reader(living: Api, tmp_path: Path, who: str) -> None:
    person = await command_line(living, who, tmp_path)
    await person.ok("session", "create", *_SMALL, "--name", "train-3")
    await person.ok("keypair", "create")
    await person.ok("token", "create", "nightly", "--scope", "session.read")
    await person.ok("ssh-key", "add", "desk")
    await person.ok("vfolder", "create", "data")
    lines = list(TABLES)
    if who == "superadmin":
        project = (await person.ok("project", "ls", "-o", "jsonpath={.items[0].id}")).strip()
        lines += [*TABLES_OF_ADMINISTRATORS, f"project show {project}"]
    for line in lines:
        shown = await person.ok(*line.split())
        assert not _UTC.search(shown), f"carrel {line}: {shown}"


async def test_a_list_is_shown_again_when_it_changes(user: CommandLine) -> None:
    watching = await user.start("session", "ls", "--watch", "--all", "-o", "json")
    assert watching.stdout

    async def next_list(until: str) -> None:
        while until not in (line := await asyncio.wait_for(watching.stdout.readline(), 30)).decode():
            assert line, "the list ended"

    await next_list('"items": []')
    await user.ok("session", "create", *_SMALL, "--name", "train-3")
    # A session that has not started yet would end as CANCELLED.
    await next_list('"RUNNING"')
    await user.ok("session", "rm", "--yes", "train-3", "--wait")
    await next_list('"TERMINATED"')
    watching.terminate()
    await watching.wait()


async def test_a_list_of_which_no_event_tells_is_asked_for_again(user: CommandLine) -> None:
    watching = await user.start("token", "ls", "--watch", "-o", "json")
    assert watching.stdout
    try:
        first = await asyncio.wait_for(watching.stdout.readline(), 60)
        assert json.loads(first)["items"] == []
        await user.ok("token", "create", "for-ci", "--scope", "session.read")
        second = await asyncio.wait_for(watching.stdout.readline(), 60)
        assert [token["name"] for token in json.loads(second)["items"]] == ["for-ci"]
    finally:
        watching.terminate()
        await watching.wait()


async def test_a_watched_table_takes_the_place_of_the_last_one(user: CommandLine) -> None:
    async with user.in_terminal("session", "ls", "-w", cols=200) as screen:
        await screen.until(b"\x1b[H\x1b[2J\x1b[3J")
        await screen.until(b"NAME")
        await user.ok("session", "create", *_SMALL, "--name", "train-3")
        await screen.until(b"\x1b[H\x1b[2J\x1b[3J")
        await screen.until(b"train-3")
        screen.process.send_signal(signal.SIGINT)
        assert await screen.ended() == 130


async def test_any_request_can_be_sent(user: CommandLine) -> None:
    made = json.loads(await user.ok("api", "post", "vfolders", "-f", "name=data", "-f", "usage_mode=model"))
    assert made["usage_mode"] == "model"
    for name in ("one", "two"):
        await user.ok(
            "api", "POST", "/api/v1/vfolders", "--input", "-", stdin=json.dumps({"name": name}).encode()
        )
    names = ("-o", "jsonpath={.items[*].name}")
    assert (
        await user.ok("api", "GET", "/vfolders", "-F", "limit=2", "-f", "sort=name", *names) == "data one\n"
    )
    every = await user.ok("api", "GET", "vfolders?limit=1", "--paginate", *names)
    assert sorted(every.split()) == ["data", "one", "two"]
    head, _, body = (await user.ok("api", "GET", "vfolders/data", "-i")).partition("\n\n")
    assert head.startswith("HTTP/1.1 200\n")
    assert "content-type: application/json" in head
    assert json.loads(body)["name"] == "data"
    refused = await user.run("api", "GET", "sessions/nosuch", "-i")
    assert (refused.code, refused.stdout.startswith(b"HTTP/1.1 404\n")) == (4, True)
    assert "(session.not_found)" in refused.stderr


@pytest.mark.parametrize(
    "line",
    [
        "api FETCH sessions",
        "api POST vfolders --input a -f b=c",
        "api GET vfolders -f name",
        "api POST a --paginate",
        "api GET me -F a=b",
        "api GET auth/me --paginate",
    ],
)
async def test_a_request_that_makes_no_sense_is_usage(line: str, user: CommandLine) -> None:
    done = await user.run(*line.split())
    assert (done.code, done.stdout) == (2, b""), done.stderr
