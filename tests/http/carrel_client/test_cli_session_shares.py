"""`carrel session share` and its companions, and sharing by the SDK, against the real application."""

import asyncio
from pathlib import Path

import pytest
from carrel_client import Carrel, NotFoundError
from command_line import command_line
from installation import Api


async def test_a_session_is_shared_listed_and_revoked(api: Api, tmp_path: Path) -> None:
    user, stranger = [await command_line(api, name, tmp_path / name) for name in ("user", "stranger")]
    await (await api.as_("user")).start(name="desk")
    shared = await user.ok("session", "share", "desk", "--with", "stranger@example.org", "--expires", "2h")
    assert "stranger@example.org may look at desk until" in shared
    assert "desk" in await stranger.ok("session", "ls", "--shared")
    assert "to look" in await stranger.ok("session", "show", "desk")
    listed = await user.ok("session", "shares", "desk")
    assert "stranger@example.org" in listed
    await user.ok("session", "share", "desk", "--with", "stranger@example.org", "--level", "use")
    [share] = (await user.as_json("session", "shares", "desk"))["items"]
    assert (share["level"], share["expires_at"]) == ("use", None)
    assert (await stranger.run("session", "rm", "--yes", "desk")).code == 3
    await user.ok("session", "unshare", "desk", "stranger@example.org", "--yes")
    assert "desk" not in await stranger.ok("session", "ls", "--shared")


async def test_shared_sessions_are_left(api: Api, tmp_path: Path) -> None:
    user, stranger = [await command_line(api, name, tmp_path / name) for name in ("user", "stranger")]
    await (await api.as_("user")).start(name="desk")
    await user.ok("session", "share", "desk", "--with", "stranger@example.org")
    assert "You have left desk" in await stranger.ok("session", "leave", "--yes", "desk")
    assert "desk" not in await stranger.ok("session", "ls", "--shared")
    gone = await stranger.run("session", "leave", "--yes", "desk")
    assert (gone.code != 0, "There is no session desk" in gone.stderr) == (True, True)
    shares = await user.as_json("session", "shares", "desk")
    assert shares["items"] == []


async def test_a_link_is_printed_once_and_opened(api: Api, tmp_path: Path) -> None:
    user, stranger = [await command_line(api, name, tmp_path / name) for name in ("user", "stranger")]
    await (await api.as_("user")).start(name="desk")
    assert (await user.run("session", "share", "desk", "--link")).code == 1
    assert (await user.run("session", "share", "desk")).code == 2
    link = (await user.ok("session", "share", "desk", "--link", "--expires", "1h")).strip()
    assert "/shared#token=" in link
    assert "You may look at desk until" in await stranger.ok("session", "join", link)
    assert "It is your own session" in await user.ok("session", "join", link)
    assert (await stranger.run("session", "join", link + "x")).code != 0
    assert [
        one["via_link"] is None for one in (await user.as_json("session", "shares", "desk"))["items"]
    ] == [
        True,
        False,
    ]


async def test_the_sdk_shares_a_session(api: Api) -> None:
    user, stranger = await api.as_("user"), await api.as_("stranger")
    session = (await user.start(name="desk"))["id"]
    keys = await api.keypair(api.people.user)

    def share() -> str:
        with Carrel(api.url, *keys) as carrel:
            desk = carrel.sessions.get("desk")
            made = desk.share("stranger@example.org", level="use", expires="1h")
            assert made["expires_at"]
            assert [one["level"] for one in desk.shares()] == ["use"]
            desk.unshare(made["id"])
            with pytest.raises(NotFoundError):
                desk.unshare(made["id"])
            return desk.share(expires=600)["url"] or ""

    link = await asyncio.to_thread(share)
    assert (await stranger.get(f"/sessions/{session}")).status_code == 404
    joined = await stranger.post("/session-links", {"token": link.partition("#token=")[2]})
    assert joined.json()["id"] == session
    theirs = await api.keypair(api.people.stranger)

    def leave() -> None:
        with Carrel(api.url, *theirs) as carrel:
            assert carrel.sessions.get("desk").leave()["shared_as"] is None

    await asyncio.to_thread(leave)
    assert (await stranger.get(f"/sessions/{session}")).status_code == 404
