"""Signing in by a real directory, through the ordinary form."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest
from databases import scalar, sql
from installation import API, Api
from own_slapd import GROUPS, PEOPLE, READER, READER_PASSWORD, Slapd, slapd
from people import PASSWORD
from sqlalchemy import text

from carrel.signin.providers import sign_on

ADA = "ada's password"
LDAP = {"host": "127.0.0.1", "tls": "starttls", "bind_dn": READER, "user_base": PEOPLE}


@dataclass
class Office:
    """An installation with the directory "office", in which ada is."""

    api: Api
    there: Slapd

    async def sign_in(self, login: str, password: str) -> httpx2.Response:
        client = await self.api.client()
        return await client.post(f"{API}/auth/login", json={"email": login, "password": password})

    async def user(self, login: str = "ada", password: str = ADA) -> dict[str, Any]:
        answer = await self.sign_in(login, password)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    async def refused(self, login: str, password: str) -> tuple[int, str]:
        answer = await self.sign_in(login, password)
        return answer.status_code, answer.json()["code"]

    async def change(self, **changes: object) -> dict[str, Any]:
        admin = await self.api.as_("superadmin")
        settings = {name: changes.pop(name) for name in [*changes] if name not in ("active", "mapping")}
        answer = await admin.patch("/providers/office", {"settings": settings, **changes})
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    async def test(self, login: str | None = None) -> dict[str, str]:
        """The steps of the provider's test, "" for one that went well."""
        admin = await self.api.as_("superadmin")
        tried = (await admin.post("/providers/office/test", {"login": login} if login else None)).json()
        assert tried["ok"] == all(step["ok"] for step in tried["steps"])
        return {step["name"]: "" if step["ok"] else step["sentence"] for step in tried["steps"]}


class Watch:
    """The clock of what is told to directories: only their own work and waiting move it. work_s: by login."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.work_s: Mapping[str, float] = {}

    @classmethod
    def replacing(cls, monkeypatch: pytest.MonkeyPatch) -> "Watch":
        """Take the place of the clock and the waiting of `sign_on`."""
        watch = cls()
        ask = sign_on.Directories._ask

        async def work(directories: Any, present: Any, provider: Any, login: str, *rest: Any) -> Any:
            watch.now += watch.work_s.get(login, 0.0)
            return await ask(directories, present, provider, login, *rest)

        monkeypatch.setattr(sign_on, "time", watch)
        monkeypatch.setattr(sign_on, "asyncio", watch)
        monkeypatch.setattr(sign_on.Directories, "_ask", work)
        return watch

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += max(seconds, 0.0)

    async def time_of_no(self, office: Office, login: str) -> float:
        began = self.now
        assert await office.refused(login, "wrong") == (401, "auth.bad_credentials")
        return self.now - began


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory):  # type: ignore[no-untyped-def]
    with slapd(tmp_path_factory.mktemp("slapd")) as there:
        there.add_person("ada", password=ADA, name="Ada Lovelace", mail="ada@office.example")
        yield there


@pytest.fixture
async def office(api: Api, directory: Slapd, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Office]:
    monkeypatch.setattr(sign_on, "LEAST_S", 0.01)
    admin = await api.as_("superadmin")
    body = {
        "name": "office",
        "kind": "ldap",
        "domain": "default",
        "settings": {**LDAP, "port": directory.port, "ca": directory.ca, "bind_password": READER_PASSWORD},
    }
    answer = await admin.post("/providers", body)
    assert answer.status_code == 201, answer.text
    yield Office(api, directory)
    directory.set_group("staff")
    directory.set_attribute("ada", "cn", "Ada Lovelace")


async def test_people_of_the_directory_sign_in_by_name_or_email(office: Office):
    first = await office.user("ada")
    assert (first["user"]["email"], first["user"]["name"]) == ("ada@office.example", "Ada Lovelace")
    assert (first["user"]["role"], first["projects"], first["pending"]) == ("user", [], None)
    office.there.set_attribute("ada", "cn", "Ada King")
    second = await office.user("Ada@Office.example")
    assert (second["user"]["id"], second["user"]["name"]) == (first["user"]["id"], "Ada King")
    async with office.api.database.transaction() as tx:
        noted = await tx.execute(text("SELECT credential FROM audit WHERE action = 'auth.login'"))
        assert set(noted.scalars()) == {"ldap:office"}


@pytest.mark.parametrize(
    ("login", "password"),
    [
        ("ada", "wrong"),
        ("ada", ""),
        ("", ""),
        ("nobody", ADA),
        ("*", ADA),
        ("a*", ADA),
        ("ada)(uid=*", ADA),
        ("*)(|(uid=*", ADA),
        ("ada\\2a", ADA),
        (f"uid=ada,{PEOPLE}", ADA),
        ("ada\x00", ADA),
    ],
)
async def test_what_is_not_exactly_right_opens_nothing(office: Office, login: str, password: str):
    assert (await office.refused(login, password))[0] in (401, 422)
    assert await scalar(office.api.database, "SELECT count(*) FROM external_identities") == 0


async def test_a_name_that_fits_two_people_is_nobodys(office: Office):
    await office.change(user_filter="(|(uid={login})(objectClass=person))")
    office.there.add_person("bob", password=ADA, name="Bob", mail="bob@office.example")
    assert await office.refused("ada", ADA) == (401, "auth.bad_credentials")


async def test_dangerous_changes_are_confirmed_with_the_password_of_the_directory(office: Office):
    client = await office.api.client()
    answer = await client.post(f"{API}/auth/login", json={"email": "ada", "password": ADA})
    client.headers["X-Carrel-CSRF"] = answer.json()["csrf_token"]
    await sql(office.api.database, "UPDATE logins SET confirmed_at = confirmed_at - interval '1 hour'")
    office.api.services.authenticator.forget()
    assert (await client.post(f"{API}/keypairs", json={})).json()["code"] == "auth.confirm_needed"
    wrong = await client.post(f"{API}/auth/confirm", json={"password": "wrong"})
    assert wrong.json()["code"] == "auth.wrong_password"
    right = await client.post(f"{API}/auth/confirm", json={"password": ADA})
    assert right.status_code == 200, right.text
    client.headers["X-Carrel-CSRF"] = right.json()["csrf_token"]
    assert (await client.post(f"{API}/keypairs", json={})).status_code == 201


async def test_time_does_not_tell_whom_the_directory_knows(office: Office, monkeypatch: pytest.MonkeyPatch):
    watch = Watch.replacing(monkeypatch)
    monkeypatch.setattr(sign_on, "LEAST_S", 0.4)
    await office.user("ada")
    # A directory looks longer at the password of somebody whom it knows.
    watch.work_s = {"ada@office.example": 0.3, "user@example.org": 0.1}
    for login in ("ada@office.example", "user@example.org", "nobody@office.example"):
        assert await watch.time_of_no(office, login) == pytest.approx(0.4)


async def test_every_no_takes_for_a_while_as_long_as_a_slow_directory(
    office: Office, monkeypatch: pytest.MonkeyPatch
):
    watch = Watch.replacing(monkeypatch)
    monkeypatch.setattr(sign_on, "LEAST_S", 0.4)
    watch.work_s = {"ada": 1.5}
    assert await watch.time_of_no(office, "ada") == pytest.approx(1.5)
    watch.work_s = {}
    assert await watch.time_of_no(office, "nobody") == pytest.approx(1.5)
    watch.now += sign_on.REMEMBERED_S
    assert await watch.time_of_no(office, "ada") == pytest.approx(0.4)


async def test_failures_lock_and_success_forgives(office: Office):
    for _ in range(9):
        assert await office.refused("ada", "wrong") == (401, "auth.bad_credentials")
    await office.user("ada")
    for _ in range(10):
        assert await office.refused("ada", "wrong") == (401, "auth.bad_credentials")
    assert await office.refused("ada", ADA) == (429, "auth.locked")


async def test_local_people_are_not_asked_for_at_the_directory(office: Office):
    office.there.add_person("user", password="theirs", name="Not They", mail="user@example.org")
    assert await office.refused("user@example.org", "theirs") == (401, "auth.bad_credentials")
    assert await office.refused("user", "theirs") == (409, "provider.email_taken")
    assert (await office.sign_in("user@example.org", PASSWORD)).status_code == 200
    await office.change(trusted_email_domains=["example.org"])
    linked = await office.user("user@example.org", "theirs")
    assert linked["user"]["id"] == office.api.people.user.user_id
    assert (await office.sign_in("user@example.org", PASSWORD)).status_code == 200


@pytest.mark.parametrize("tls", ["none", "starttls", "tls"])
async def test_lines_are_encrypted_as_set_and_the_server_must_be_the_right_one(office: Office, tls: str):
    port = office.there.tls_port if tls == "tls" else office.there.port
    await office.change(tls=tls, port=port)
    assert await office.test("ada") == {"connection": "", "bind": "", "search": "", "person": ""}
    await office.user()
    if tls == "none":
        return
    await office.change(ca="")
    assert (await office.sign_in("ada", ADA)).status_code == 503
    assert "certificate" in (await office.test())["connection"]
    await office.change(ca=office.there.ca, host="localhost", bind_password=READER_PASSWORD)
    assert "certificate" in (await office.test())["connection"]


async def test_a_directory_that_is_away_is_said_so_and_others_sign_in(office: Office):
    office.there.stop()
    try:
        answer = await office.sign_in("ada", ADA)
        assert (answer.status_code, answer.json()["code"]) == (503, "provider.unreachable")
        assert "office does not respond" in answer.json()["detail"]
        assert (await office.sign_in("user@example.org", PASSWORD)).status_code == 200
        assert "cannot be reached" in (await office.test())["connection"]
        admin = await office.api.as_("superadmin")
        noted = (await admin.get("/audit", params={"action": "auth.login", "outcome": "refused"})).json()[
            "items"
        ]
        assert "ldap:office" in {entry["credential"] for entry in noted}
    finally:
        office.there.start()
    await office.user()


async def test_while_a_directory_is_away_no_answer_tells_who_has_an_account(
    office: Office, monkeypatch: pytest.MonkeyPatch
):
    await office.user("ada")
    await sql(
        office.api.database, "UPDATE users SET state = 'inactive' WHERE email = 'colleague@example.org'"
    )
    logins = (
        "ada@office.example",
        "user@example.org",
        "colleague@example.org",
        "nobody@example.org",
        "nobody",
    )
    # Another that answers says nothing that the one that is away does not take back.
    admin = await office.api.as_("superadmin")
    settings = {
        **LDAP,
        "port": office.there.port,
        "ca": office.there.ca,
        "user_base": "ou=none,dc=example,dc=org",
        "bind_password": READER_PASSWORD,
    }
    second = {"name": "annex", "kind": "ldap", "domain": "default", "settings": settings}
    added = await admin.post("/providers", second)
    assert added.status_code == 201, added.text
    answers = {login: await office.sign_in(login, "wrong") for login in logins}
    assert {(a.status_code, a.json()["code"]) for a in answers.values()} == {(503, "provider.misconfigured")}
    office.there.stop()
    watch = Watch.replacing(monkeypatch)
    monkeypatch.setattr(sign_on, "LEAST_S", 0.4)
    watch.work_s = {"ada@office.example": 0.3, "nobody": 0.1}
    try:
        for login in logins:
            began = watch.now
            answers[login] = await office.sign_in(login, "wrong")
            assert watch.now - began == pytest.approx(0.4), login
        bodies = [{**a.json(), "request_id": ""} for a in answers.values()]
        assert bodies == [bodies[0]] * len(bodies)
        assert bodies[0]["code"] == "provider.unreachable"
        assert (await office.sign_in("user@example.org", PASSWORD)).status_code == 200
    finally:
        office.there.start()
    noted = await admin.get("/audit", params={"action": "auth.login", "outcome": "refused", "limit": 200})
    reasons = {e["reason"] for e in noted.json()["items"] if e["actor"]["email"] == "user@example.org"}
    assert reasons == {"wrong password"}


async def test_who_is_signed_in_and_types_wrongly_hears_of_no_directory_but_their_own(office: Office):
    user = await office.api.browser("user")
    office.there.stop()
    try:
        wrong = await user.post("/auth/confirm", {"password": "wrong"})
        assert (wrong.status_code, wrong.json()["code"]) == (422, "auth.wrong_password")
    finally:
        office.there.start()


async def test_the_test_says_at_which_step_it_fails(office: Office):
    assert "nobody" in (await office.test("nobody"))["person"]
    await office.change(user_base="ou=elsewhere,dc=example,dc=org")
    assert "ou=elsewhere" in (await office.test("ada"))["search"]
    await office.change(user_base=PEOPLE, bind_password="wrong")
    steps = await office.test("ada")
    assert (list(steps), READER in steps["bind"]) == (["connection", "bind"], True)
    answer = await office.sign_in("ada", ADA)
    assert (answer.status_code, answer.json()["code"]) == (503, "provider.misconfigured")
    assert "wrong" not in answer.text


@pytest.mark.parametrize(
    ("options", "group"),
    [
        ({}, "staff"),
        ({}, f"CN=Staff, {GROUPS}"),
        ({"groups_attribute": "description", "group_base": GROUPS}, "staff"),
        (
            {
                "groups_attribute": "description",
                "group_base": GROUPS,
                "group_filter": "(member=uid={uid}," + PEOPLE + ")",
            },
            f"cn=staff,{GROUPS}",
        ),
    ],
)
async def test_groups_of_the_directory_give_and_take_projects(
    office: Office, options: dict[str, str], group: str
):
    await office.change(mapping=[{"group": group, "project": "default", "admin": True}], **options)
    assert (await office.user())["projects"] == []
    office.there.set_group("staff", "ada")
    [project] = (await office.user())["projects"]
    assert (project["name"], project["admin"]) == ("default", True)
    office.there.set_group("staff")
    assert (await office.user())["projects"] == []


async def test_who_is_disabled_here_stays_out(office: Office):
    await office.user()
    await sql(office.api.database, "UPDATE users SET state = 'inactive' WHERE email = 'ada@office.example'")
    assert await office.refused("ada", ADA) == (403, "auth.refused")


@pytest.mark.parametrize("wrong", ["(uid={login}", "uid={login}", "(uid=ada)", "((uid={login}))"])
async def test_a_filter_that_cannot_work_is_refused(office: Office, wrong: str):
    admin = await office.api.as_("superadmin")
    answer = await admin.patch("/providers/office", {"settings": {"user_filter": wrong}})
    assert (answer.status_code, answer.json()["field"]) == (422, "settings.user_filter"), answer.text
