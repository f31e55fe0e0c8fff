"""Signing in at a terminal with all its steps, and the commands about sign-ins and the settings."""

import os
import re
from pathlib import Path

import pytest
from auth_kit import add_totp, sign_in, wind
from command_line import CommandLine, command_line
from databases import sql
from installation import Api
from people import PASSWORD

NEW = "another fine password 7"


@pytest.fixture
def nobody(api: Api, tmp_path: Path) -> CommandLine:
    """A terminal that nobody has signed in at."""
    return CommandLine({"PATH": os.environ["PATH"], "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)})


async def test_a_code_is_taken_as_an_option(api: Api, nobody: CommandLine):
    app, codes = await add_totp(api, await sign_in(api, "user"))
    words = ("login", api.url, "--email", "user@example.org", "--password-stdin")
    without = await nobody.run(*words, stdin=PASSWORD.encode() + b"\n")
    assert without.code != 0
    assert "--code" in without.stderr
    wrong = await nobody.run(*words, "--code", "000000", stdin=PASSWORD.encode() + b"\n")
    assert "auth.wrong_code" in wrong.stderr
    for code in (app.at(wind(api, seconds=30)), codes[0]):
        assert "user@example.org" in await nobody.ok(*words, "--code", code, stdin=PASSWORD.encode() + b"\n")
    assert "user@example.org" in await nobody.ok("whoami")


async def test_a_terminal_asks_for_what_is_missing(api: Api, nobody: CommandLine):
    app, _ = await add_totp(api, await sign_in(api, "user"))
    await sql(api.database, "UPDATE users SET must_change_password = true WHERE email = 'user@example.org'")
    wind(api, seconds=30)
    async with nobody.in_terminal("login", api.url, "--email", "user@example.org") as screen:
        await screen.until(b"Password: ")
        await screen.press(PASSWORD.encode() + b"\n")
        await screen.until(b"recovery code: ")
        await screen.press(app.at(wind(api)).encode() + b"\n")
        for question in (b"New password: ", b"Repeat the password: "):
            await screen.until(question)
            await screen.press(NEW.encode() + b"\n")
        await screen.until(b"signed in as")
        assert await screen.ended() == 0
        assert NEW.encode() not in screen.shown
    assert "user@example.org" in await nobody.ok("whoami")


async def test_whoever_must_enrol_is_sent_to_the_page(api: Api, nobody: CommandLine):
    await (await api.as_("superadmin")).patch("/site", {"second_factor": "everybody"})
    words = ("login", api.url, "--email", "user@example.org", "--password-stdin")
    done = await nobody.run(*words, stdin=PASSWORD.encode() + b"\n")
    assert done.code == 3
    assert "second factor" in done.stderr


async def test_sign_ins_are_listed_and_ended(api: Api, tmp_path: Path):
    script = await command_line(api, "superadmin", tmp_path)
    mine, theirs = await sign_in(api, "admin"), await sign_in(api, "user")
    assert "127.0.0.1" in await script.ok("sign-in", "ls")
    [session] = (await script.as_json("sign-in", "ls"))["items"]
    assert "1 browser is signed out" in await script.ok("sign-in", "rm", "--yes", session["id"])
    assert (await mine.get("/auth/me")).status_code == 401
    ended = await script.ok("sign-in", "rm", "--yes", "--everywhere", "--user", "user@example.org")
    assert "1 browser is signed out" in ended
    assert (await theirs.get("/auth/me")).status_code == 401
    assert (await script.run("sign-in", "rm")).code == 2


async def test_settings_are_shown_and_changed(api: Api, tmp_path: Path):
    script = await command_line(api, "superadmin", tmp_path)
    assert re.search(r"lock_minutes\W+20", await script.ok("site", "show"))
    await script.ok(
        "site",
        "set",
        "lock_minutes=30",
        "password_refuse_common=off",
        "sign_up_email_domains=a.example,b.example",
        "mail_host=127.0.0.1",
        "mail_sender=carrel@example.org",
        "mail_port=9",
        "announcement=*Hello*, you",
        "--mail-password-stdin",
        stdin=b"hidden\n",
    )
    shown = await script.as_json("site", "show")
    assert (shown["lock_minutes"], shown["password_refuse_common"]) == (30, False)
    assert shown["sign_up_email_domains"] == ["a.example", "b.example"]
    assert (shown["mail_sender"], shown["announcement"]) == ("carrel@example.org", "*Hello*, you")
    assert shown["mail_password_set"] is True
    await script.ok("site", "set", "mail_host=", "mail_sender=", "sign_up_email_domains=")
    shown = await script.as_json("site", "show")
    assert (shown["mail_host"], shown["mail_sender"], shown["sign_up_email_domains"]) == ("", None, [])
    for words in (["nonesuch=1"], ["lock_minutes"], ["password_refuse_common=perhaps"], []):
        assert (await script.run("site", "set", *words)).code in (1, 2), words
    refused = await script.run("site", "set", "lock_minutes=0")
    assert (refused.code, "lock_minutes" in refused.stderr) == (1, True)
    assert (await script.run("site", "test-mail", "a@example.org")).code == 1
