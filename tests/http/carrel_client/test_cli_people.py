"""`carrel domain|project|user ...` against the real application."""

import stat
from pathlib import Path

import pytest
from command_line import CommandLine, as_keypair, command_line
from installation import Api
from people_kit import GOOD, domain_admin


@pytest.fixture
async def admin(api: Api, tmp_path: Path) -> CommandLine:
    """The command line of a superadmin."""
    return await command_line(api, "superadmin", tmp_path)


@pytest.fixture
async def head(api: Api, tmp_path: Path) -> CommandLine:
    """The command line of an administrator of the domain."""
    caller = await domain_admin(api)
    assert caller.actor
    return as_keypair(f"http://127.0.0.1:{api.port}", await api.keypair(caller.actor), tmp_path)


async def test_a_domain_is_made_changed_and_removed(admin: CommandLine):
    await admin.types("domain create physics --ceiling cpu=64 --ceiling mem=512g --registry docker.io")
    shown = await admin.as_json("domain", "show", "physics")
    assert (shown["ceilings"], shown["registries"]) == ({"cpu": 64000, "mem": 512 << 30}, ["docker.io"])
    shown = await admin.as_json("domain", "update", "physics", "--no-ceilings", "--all", "registries")
    assert (shown["ceilings"], shown["registries"]) == ({}, None)
    assert "disabled" in await admin.ok("domain", "disable", "--yes", "physics")
    assert "disabled" in await admin.ok("domain", "ls")
    await admin.ok("domain", "rm", "--yes", "physics")
    gone = await admin.run("domain", "show", "physics")
    assert (gone.code, "domain.not_found" in gone.stderr) == (4, True)


async def test_a_project_is_filled_archived_and_removed(head: CommandLine):
    await head.ok("project", "create", "vision", "--ceiling", "cpu=8")
    enrolled = await head.run("project", "enrol", "vision", "user@example.org", "foreigner@example.org")
    assert (enrolled.code, enrolled.stdout) == (1, b"user@example.org is now a member\n")
    assert "has no user foreigner@example.org" in enrolled.stderr
    assert "administrator" in await head.ok("project", "appoint", "vision", "user@example.org")
    assert "administrator" in await head.ok("project", "members", "vision")
    await head.ok("project", "expel", "--yes", "vision", "user@example.org")
    await head.ok("project", "archive", "vision")
    assert "vision" not in await head.ok("project", "ls")
    assert "vision" in await head.ok("project", "ls", "--archived")
    await head.ok("project", "restore", "vision")
    await head.ok("project", "rm", "--yes", "vision")


async def test_a_user_is_made_disabled_and_deleted(admin: CommandLine):
    made = await admin.ok(
        "user", "create", "ada@example.org", "Ada", "--project", "default", "--generate-password"
    )
    assert "password: " in made
    shown = await admin.ok(
        "user", "update", "ada@example.org", "--role", "domain_admin", "--address", "10.0.0.0/8"
    )
    assert "domain_admin" in shown
    assert await admin.ok("user", "ls", "--role", "domain_admin", "-q") == "ada@example.org\n"
    assert (await admin.run("user", "purge", "ada@example.org", "--yes")).code == 1
    await admin.ok("user", "disable", "--yes", "ada@example.org")
    refused = await admin.run("user", "purge", "ada@example.org")
    assert (refused.code, "client.no_terminal" in refused.stderr) == (2, True)
    async with admin.in_terminal("user", "purge", "ada@example.org") as screen:
        await screen.until(b"Type ada@example.org to continue:")
        await screen.press(b"ada@example.org\n")
        await screen.until(b"permanently deleted")
    assert "ada@example.org" not in await admin.ok("user", "ls", "-q")


SHEET = '''\ufeffE-Mail,NAME,Projects,Must Change Password,password
ada@example.org,"Lovelace, Ada ""the first""",default;other,no,velvet-otter 41 plum
"=cmd@example.org","=HYPERLINK(""http://x"")",,,
\u6176@example.org,\u6176\u5fd7,,yes,

'''.replace("\n", "\r\n")


async def test_a_sheet_with_all_that_spreadsheets_do_is_read_as_it_is_meant(
    head: CommandLine, tmp_path: Path
):
    sheet, out = tmp_path / "people.csv", tmp_path / "links.csv"
    sheet.write_bytes(SHEET.encode())
    looked = await head.run("user", "import", str(sheet), "--dry-run", "--link")
    assert (looked.code, "3 can be created" in looked.stderr) == (0, True), looked.stderr
    assert "ada@" not in await head.ok("user", "ls", "-q")
    done = await head.run("user", "import", str(sheet), "--link", "--save", str(out), "--project", "other")
    assert done.code == 0, done.stderr
    assert "3 created, 0 failed" in done.stderr
    users = (await head.as_json("user", "ls", "--limit", "0"))["items"]
    by_email = {user["email"]: user for user in users}
    ada = by_email["ada@example.org"]
    assert (ada["name"], [p["name"] for p in ada["projects"]], ada["must_change_password"]) == (
        'Lovelace, Ada "the first"',
        ["default", "other"],
        False,
    )
    assert by_email["=cmd@example.org"]["name"] == '=HYPERLINK("http://x")', "text stays text"
    assert [p["name"] for p in by_email["\u6176@example.org"]["projects"]] == ["other"]
    written = out.read_text()
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert (written.count("http"), GOOD in written) == (2, False)
    assert "\n'=cmd@example.org," in written, "no spreadsheet may take it for a formula"
    again = await head.run("user", "import", str(sheet))
    assert (again.code, again.stderr.count("user.email_taken")) == (1, 3)


async def test_a_wrong_line_stops_the_whole_sheet_unless_it_may_be_skipped(head: CommandLine, tmp_path: Path):
    sheet = tmp_path / "people.csv"
    sheet.write_text(
        "email,name,role\na@example.org,A,\nuser@example.org,Taken,\nc@example.org,C,superadmin\n"
    )
    refused = await head.run("user", "import", str(sheet), "--generate-password")
    assert (refused.code, refused.stdout) == (1, b"")
    assert "line 3, user@example.org: A user with" in refused.stderr
    assert "line 4, c@example.org: You may not do this" in refused.stderr
    assert "a@example.org" not in await head.ok("user", "ls", "-q")
    partly = await head.run("user", "import", str(sheet), "--generate-password", "--skip-invalid")
    assert (partly.code, "1 created, 2 failed" in partly.stderr) == (1, True)
    assert partly.stdout.decode().startswith("email,password,link\na@example.org,")
    assert "a@example.org" in await head.ok("user", "ls", "-q")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no column email"),
        (b"email,name\n", "contains no users"),
        (b"email,name,salary\na@b.c,A,1\n", "column 'salary'"),
        (b"email,email,name\n", "twice"),
        (b'email,name\na@b.c,"A\n', "not valid CSV"),
        (b"email,name\na@b.c,A,B,C\n", "4 cells for 2 columns"),
        ("email,name\na@b.c,J\u00f6rg\n".encode("latin-1"), "Line 2 is not UTF-8"),
        (b"email,name\na@b.c,A\nA@B.C,A\n", "same e-mail"),
        (b"email,name,must_change_password\na@b.c,A,perhaps\n", "yes or no"),
        (b"email,name\n" + b"".join(b"u%d@b.c,U\n" % n for n in range(10_001)), "more than 10000 users"),
        (b"email,name\n" + b"x" * (17 << 20), "larger than 16 MiB"),
    ],
)
async def test_a_sheet_that_cannot_be_read_is_refused_in_words(
    head: CommandLine, tmp_path: Path, content: bytes, message: str
):
    sheet = tmp_path / "people.csv"
    sheet.write_bytes(content)
    done = await head.run("user", "import", str(sheet))
    assert (done.code, message in done.stderr) == (1, True), done.stderr
    assert "Traceback" not in done.stderr


async def test_the_template_can_be_imported(head: CommandLine):
    template = (await head.ok("user", "import", "--template")).encode()
    done = await head.run("user", "import", "-", stdin=template)
    assert (done.code, "1 created" in done.stderr) == (0, True), done.stderr


async def test_users_are_generated_by_a_pattern(head: CommandLine, api: Api):
    words = ("user", "generate", "--prefix", "course-", "--suffix", "@example.org", "--count", "12")
    looked = await head.ok(*words, "--start", "95", "--dry-run")
    assert looked.splitlines()[0] == "course-095@example.org"
    assert looked.splitlines()[-1] == "course-106@example.org"
    assert (await head.run(*words, "--password-stdin", stdin=b"123\n")).stderr.count(
        "password.too_short"
    ) == 12
    done = await head.run(*words, "--password-stdin", "--project", "default", stdin=f"{GOOD}\n".encode())
    assert (done.code, "12 created, 0 failed" in done.stderr) == (0, True), done.stderr
    client = await api.client()
    answer = await client.post(
        "/api/v1/auth/login", json={"email": "course-07@example.org", "password": GOOD}
    )
    assert (answer.status_code, answer.json()["pending"]) == (200, "password")
    for wrong in (("--prefix", "a b"), ("--suffix", "@"), ("--count", "0"), ("--count", "5000")):
        assert (await head.run(*words, *wrong)).code == 1, wrong


async def test_whoever_has_folders_is_deleted_when_it_is_said_who_gets_them(api: Api, admin: CommandLine):
    made = await (await api.as_("user")).post("/vfolders", {"name": "data"})
    await admin.ok("user", "disable", "--yes", "user@example.org")
    purge = ("user", "purge", "user@example.org", "--yes")
    unsaid = await admin.run(*purge)
    assert (unsaid.code, "user.has_folders" in unsaid.stdout.decode() + unsaid.stderr) == (1, True)
    assert (await admin.run(*purge, "--delete-folders", "--folders-to", "colleague@example.org")).code == 2
    await admin.ok(*purge, "--folders-to", "colleague@example.org")
    theirs = (await (await api.as_("colleague")).get(f"/vfolders/{made.json()['id']}")).json()
    assert theirs["owner"]["email"] == "colleague@example.org"
