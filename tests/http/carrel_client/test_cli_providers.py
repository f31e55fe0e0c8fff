"""`carrel provider`, and `carrel login --sso` with a browser that a person uses."""

import asyncio
import json
import re
from asyncio.subprocess import Process
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest
from command_line import CommandLine, command_line
from installation import Api
from own_openid_provider import SECRET, sign_in_there
from sso_kit import Sso


@pytest.fixture
def line(api: Api, tmp_path: Path) -> Callable[[], CommandLine]:
    """The command line of somebody who never signed in."""
    return lambda: CommandLine(
        {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    )


@pytest.fixture
async def admin(api: Api, tmp_path: Path) -> CommandLine:
    return await command_line(api, "superadmin", tmp_path)


async def test_an_administrator_sets_a_provider_up_and_takes_it_away(admin: CommandLine):
    output = await admin.ok(
        *("provider", "add", "ldap", "office", "--domain", "default", "--host", "127.0.0.1", "--port", "9"),
        *("--user-base", "ou=people,dc=example,dc=org", "--bind-dn", "cn=reader", "--bind-password", "-"),
        *("--tls=none", "--trusted-email-domains", "a.example", "--trusted-email-domains", "b.example"),
        *("--no-create-users", "--map", "cn=staff,dc=example,dc=org=default"),
        *("--map-admin", "leads=other", "--map-role", "deans=domain_admin"),
        stdin=b"hush hush\n",
    )
    assert "hush" not in output
    shown = await admin.as_json("provider", "show", "office")
    assert shown["settings"] == {
        "host": "127.0.0.1",
        "port": 9,
        "tls": "none",
        "user_base": "ou=people,dc=example,dc=org",
        "bind_dn": "cn=reader",
        "trusted_email_domains": ["a.example", "b.example"],
        "create_users": False,
    }
    assert shown["secrets"] == ["bind_password"]
    assert [(rule["group"], rule["admin"], rule["role"]) for rule in shown["mapping"]] == [
        ("cn=staff,dc=example,dc=org", False, None),
        ("leads", True, None),
        ("deans", False, "domain_admin"),
    ]
    tried = await admin.run("provider", "test", "office")
    assert (tried.code, b"cannot be reached" in tried.stdout) == (1, True)
    line = "provider update office --off --no-map --unset bind-dn --label".split()
    await admin.ok(*line, "Our office")
    changed = await admin.as_json("provider", "show", "office")
    assert (changed["active"], changed["mapping"], changed["settings"]["label"]) == (False, [], "Our office")
    assert changed["settings"]["host"] == "127.0.0.1"
    assert "bind_dn" not in changed["settings"]
    assert "office" in await admin.ok("provider", "ls")
    await admin.ok("provider", "rm", "--yes", "office")
    assert (await admin.run("provider", "show", "office")).code == 4


async def test_the_settings_of_a_kind_are_its_options(admin: CommandLine, tmp_path: Path):
    kinds = await admin.ok("provider", "kinds")
    assert all(word in kinds for word in ("oidc", "--client-secret", "ldap", "entryUUID", "required"))
    general = await admin.ok("provider", "add", "--help")
    assert ("--map-role" in general, "--groups-claim" in general) == (True, False)
    shown = " ".join((await admin.ok("provider", "add", "oidc", "--help")).split())
    assert "--issuer VALUE Issuer. Required." in shown
    assert "--client-secret FILE Client secret. A file, or - for standard input." in shown
    assert "--group-base" not in shown
    secret = tmp_path / "secret"
    secret.write_text("hush hush\n")
    mine = ("--issuer", "https://login.example.org", "--client-id", "c", "--client-secret", str(secret))
    await admin.ok("provider", "add", "oidc", "corp", "--domain", "default", *mine)
    for words, message in (
        (("provider", "add", "oidc", "x", "--domain", "default", "--host", "h"), "--host"),
        (
            ("provider", "add", "ldap", "x", "--domain", "default", "--port", "many"),
            "'many' is not a whole number",
        ),
        (("provider", "add", "saml", "x", "--domain", "default", "--url", "u"), "There is no kind saml"),
        (("provider", "update", "corp", "--user-base", "dc=x"), "--user-base"),
        (("provider", "update", "corp", "--client-secret", "/nonexistent"), "cannot be read"),
        (("provider", "update", "--label", "x", "corp"), "come after"),
    ):
        refused = await admin.run(*words)
        assert (refused.code, message in refused.stderr) == (2, True), refused.stderr


async def link_of(process: Process) -> str:
    """The link that the command prints, once the number has been shown too."""
    assert process.stderr
    output = ""
    while "must show" not in output:
        line = (await asyncio.wait_for(process.stderr.readline(), 60)).decode()
        assert line, output
        output += line
    match = re.search(r"http\S+/start\?\S+", output)
    assert match, output
    return match[0] + "#" + "".join(re.findall(r"\d{3} \d{3}", output)[-1].split())


async def test_people_of_a_provider_sign_the_command_line_in(sso: Sso, line: Callable[[], CommandLine]):
    somebody = line()
    process = await somebody.start("login", sso.api.url, "--sso", "corp", "--print-url", "-o", "json")
    link, number = (await link_of(process)).split("#")
    browser = await sso.browser()
    answer = await browser.get(link)
    page = await browser.get(await sign_in_there(browser, answer.headers["location"], "ada"))
    assert number in "".join(page.text.split()).replace("</strong>", "")
    yes = re.search(r'href="(http://127[^"]+)"', page.text)
    assert yes
    assert (await browser.get(unescape(yes[1]))).status_code == 200
    stdout, stderr = await process.communicate()
    assert process.returncode == 0, stderr
    assert json.loads(stdout)["user"]["email"] == "ada@corp.example"
    assert "ada@corp.example" in await somebody.ok("whoami")
    assert SECRET not in stderr.decode()


async def test_the_command_line_says_why_a_provider_did_not_sign_in(
    sso: Sso, line: Callable[[], CommandLine]
):
    await sso.change(create_users=False)
    process = await line().start("login", sso.api.url, "--sso", "corp", "--print-url")
    link = (await link_of(process)).split("#")[0]
    browser = await sso.browser()
    answer = await browser.get(link)
    back = await browser.get(await sign_in_there(browser, answer.headers["location"], "ada"))
    await browser.get(back.headers["location"])
    _, stderr = await process.communicate()
    assert (process.returncode, b"provider.not_invited" in stderr) == (3, True)


async def test_an_unknown_provider_is_named_with_those_that_there_are(
    sso: Sso, line: Callable[[], CommandLine]
):
    done = await line().run("login", sso.api.url, "--sso", "crop")
    assert (done.code, "It has: corp." in done.stderr) == (4, True)
