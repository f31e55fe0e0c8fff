"""Forgotten passwords, one-time links, self sign-up: with a real SMTP server."""

import asyncio
import re
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from auth_kit import ADA, NEW, login, open_sign_up, post, set_site, sign_in, wind
from databases import sql
from installation import Api
from mail_kit import Letters, mail_server
from people import PASSWORD, eventually

from carrel.core.clock import SystemClock
from carrel.signin.logins import sign_up
from carrel.site import outbox
from carrel.tables.site import QueuedLetter


async def post_letters(api: Api, **later: float) -> timedelta | None:
    """What the leader does with letters, so much later."""
    services = api.services
    return await outbox.send_due(
        api.database.transaction, services.seal, services.clock.now() + timedelta(**later)
    )


@pytest.fixture
async def mailbox(api: Api) -> AsyncIterator[Letters]:
    over = asyncio.Event()

    async def post_on() -> bool:
        await post_letters(api)
        return over.is_set()

    async with mail_server(api) as letters, asyncio.TaskGroup() as group:
        group.create_task(eventually(post_on, within_s=600))
        yield letters
        over.set()


def token_in(text: str, page: str) -> str:
    match = re.search(rf"http://localhost:8700/{page}#token=([\w-]+)", text)
    assert match, text
    return match[1]


async def test_a_mailed_link_sets_a_new_password_once(api: Api, mailbox: Letters):
    user = await sign_in(api, "user")
    assert (await post(api, "/auth/forgot", {"email": "User@Example.org"})).status_code == 202
    letter, text = await mailbox.newest(1)
    assert letter["To"] == "user@example.org"
    assert letter["From"] == "carrel@example.org"
    assert "/reset-password#token=" in letter.get_body(("html",)).get_content()  # type: ignore[attr-defined]
    token = token_in(text, "reset-password")
    weak = await post(api, "/auth/reset", {"token": token, "password": "short"})
    assert (weak.status_code, weak.json()["code"]) == (422, "password.too_short")
    assert (await post(api, "/auth/reset", {"token": token, "password": NEW})).status_code == 204
    assert (await user.get("/auth/me")).status_code == 401
    assert (await login(api, PASSWORD), await login(api, NEW)) == (401, 200)
    again = await post(api, "/auth/reset", {"token": token, "password": "yet another password 8"})
    assert (again.status_code, again.json()["code"]) == (404, "auth.link_spent")
    rows = await sql(api.database, "SELECT actor_email, credential FROM audit WHERE action = 'auth.recover'")
    assert rows == [("user@example.org", "link")]


async def test_a_link_lasts_half_an_hour(api: Api, mailbox: Letters):
    await post(api, "/auth/forgot", {"email": "user@example.org"})
    _, text = await mailbox.newest(1)
    wind(api, minutes=31)
    answer = await post(api, "/auth/reset", {"token": token_in(text, "reset-password"), "password": NEW})
    assert answer.json()["code"] == "auth.link_spent"


async def test_nobody_hears_who_has_an_account(api: Api, mailbox: Letters):
    await sql(api.database, "UPDATE users SET state = 'inactive' WHERE email = 'stranger@example.org'")
    await sql(api.database, "UPDATE users SET password_hash = NULL WHERE email = 'foreigner@example.org'")
    names = ("nobody", "stranger", "foreigner", "user", "user", "user")
    requests = [post(api, "/auth/forgot", {"email": f"{name}@example.org"}) for name in names]
    answers = await asyncio.gather(*requests)
    assert {(answer.status_code, answer.text) for answer in answers} == {(202, "null")}
    letter, _ = await mailbox.newest(1)
    assert letter["To"] == "user@example.org"
    wind(api, minutes=2)
    await post(api, "/auth/forgot", {"email": "user@example.org"})
    await mailbox.newest(2)


@pytest.mark.parametrize(
    ("wish", "word"), [("ko-KR,ko;q=0.9", "비밀번호"), ("ja", "パスワード"), ("fr", "password")]
)
async def test_letters_are_in_the_language_of_who_asks(api: Api, mailbox: Letters, wish: str, word: str):
    await post(api, "/auth/forgot", {"email": "user@example.org"}, **{"Accept-Language": wish})
    letter, text = await mailbox.newest(1)
    assert word in letter["Subject"]
    assert word in text
    token_in(text, "reset-password")


async def test_a_mail_server_that_fails_holds_nobody_up_and_is_shown(api: Api, mailbox: Letters):
    mailbox.refuse = "554 no such luck"
    assert (await post(api, "/auth/forgot", {"email": "user@example.org"})).status_code == 202
    admin = await api.as_("superadmin")

    async def shown() -> str | None:
        error: str | None = (await admin.get("/site")).json()["mail_error"]
        return error

    error = await eventually(shown)
    assert error is not None
    assert "no such luck" in error
    tried = (await admin.post("/site/test-mail", {"to": "ops@example.org"})).json()
    assert tried["sent"] is False
    assert "no such luck" in tried["error"]
    mailbox.refuse = ""
    assert (await admin.post("/site/test-mail", {"to": "ops@example.org"})).json() == {
        "sent": True,
        "error": None,
    }
    assert (await admin.get("/site")).json()["mail_error"] is None
    await set_site(api, mail_password="wrong")
    assert "535" in (await admin.post("/site/test-mail", {"to": "ops@example.org"})).json()["error"]
    await set_site(api, mail_port=9)
    assert (await admin.post("/site/test-mail", {"to": "ops@example.org"})).json()["sent"] is False
    assert "mail secret" not in str(await sql(api.database, "SELECT details, reason FROM audit"))


async def test_a_letter_is_tried_again_until_the_mail_server_takes_it(api: Api):
    async with mail_server(api) as letters:
        letters.refuse = "451 come back later"
        await post(api, "/auth/forgot", {"email": "user@example.org"})
        admin = await api.as_("superadmin")

        async def waiting() -> int:
            return (await admin.get("/site")).json()["mail_waiting"]  # type: ignore[no-any-return]

        await eventually(waiting)
        assert b"token" not in (await sql(api.database, "SELECT letter FROM outbox"))[0][0]
        for ahead, pause in ((0, 30), (30, 60), (90, 120)):
            tried = await sql(api.database, "SELECT tries FROM outbox")
            if ahead:
                assert await post_letters(api, seconds=ahead - 5) is not None
                assert await sql(api.database, "SELECT tries FROM outbox") == tried, "it was not its time"
            again = await post_letters(api, seconds=ahead)
            assert again is not None
            assert pause - 2 < again.total_seconds() <= pause
        assert "come back later" in (await admin.get("/site")).json()["mail_error"]
        await sql(api.database, "UPDATE outbox SET tries = 60, expires_at = expires_at + interval '1 day'")
        again = await post_letters(api, seconds=250)
        assert again is not None
        assert 1700 < again.total_seconds() <= 1800
        letters.refuse = ""
        assert await post_letters(api, seconds=2100) is None
        letter, text = await letters.newest(1)
        assert letter["Message-ID"].count("@") == 1
        token_in(text, "reset-password")
        assert await waiting() == 0
        assert (await admin.get("/site")).json()["mail_error"] is None


async def test_a_letter_that_nobody_can_read_keeps_no_other_back(api: Api):
    async with mail_server(api) as letters:
        seal, now = api.services.seal, SystemClock().now()
        async with api.database.transaction() as tx:
            strange = seal.close(b'{"heading": "of another version"}', "outbox:strange")
            tx.add(
                QueuedLetter(
                    id="strange",
                    recipient="a@example.org",
                    letter=strange,
                    next_at=now - timedelta(hours=1),
                    expires_at=now + timedelta(days=1),
                )
            )
        await post(api, "/auth/forgot", {"email": "user@example.org"})
        await eventually(lambda: sql(api.database, "SELECT 1 FROM outbox HAVING count(*) = 2"))
        assert await post_letters(api) is None
        await letters.newest(1)


async def test_a_letter_that_is_never_taken_or_too_late_is_let_go(api: Api):
    async with mail_server(api) as letters:
        letters.refuse = "550 nobody here"
        await post(api, "/auth/forgot", {"email": "user@example.org"})
        await eventually(lambda: sql(api.database, "SELECT 1 FROM outbox"))
        assert await post_letters(api) is None
        assert "nobody here" in (await (await api.as_("superadmin")).get("/site")).json()["mail_error"]
        letters.refuse = "451 come back later"
        await post(api, "/auth/forgot", {"email": "colleague@example.org"})
        await post(api, "/auth/forgot", {"email": "stranger@example.org"})
        await eventually(lambda: sql(api.database, "SELECT 1 FROM outbox HAVING count(*) = 2"))
        # One refusal, and the mail server is left alone with the other.
        await post_letters(api)
        assert sorted(await sql(api.database, "SELECT tries FROM outbox")) == [(0,), (1,)]
        letters.refuse = ""
        assert await post_letters(api, minutes=31) is None
        assert letters.got == []


async def test_an_administrators_link_is_handed_over(api: Api):
    await sql(api.database, "UPDATE users SET role = 'domain_admin' WHERE email = 'colleague@example.org'")
    admin = await api.as_("colleague")
    for name in ("foreigner", "nonesuch"):
        answer = await admin.post(f"/users/{name}@example.org/recover")
        assert (answer.status_code, answer.json()["code"]) == (404, "user.not_found")
    assert (await admin.post("/users/admin@example.org/recover")).json()["code"] == "user.ranks_higher"
    assert (await (await api.as_("stranger")).post("/users/user@example.org/recover")).status_code == 403
    link = (await admin.post("/users/user@example.org/recover")).json()
    token = token_in(link["url"], "reset-password")
    wind(api, hours=23)
    assert (await post(api, "/auth/reset", {"token": token, "password": NEW})).status_code == 204
    assert await login(api, NEW) == 200
    rows = await sql(
        api.database,
        "SELECT actor_email, object_name FROM audit WHERE action = 'user.recover' AND outcome = 'done'",
    )
    assert rows == [("colleague@example.org", "user@example.org")]


async def test_a_link_opens_a_locked_account(api: Api):
    for _ in range(10):
        assert await login(api, "wrong") == 401
    assert await login(api, PASSWORD) == 429
    link = (await (await api.as_("superadmin")).post("/users/user@example.org/recover")).json()
    await post(api, "/auth/reset", {"token": token_in(link["url"], "reset-password"), "password": NEW})
    assert await login(api, NEW) == 200


async def test_without_leave_of_the_site_nobody_signs_up(api: Api):
    answer = await post(api, "/auth/sign-up", ADA)
    assert (answer.status_code, answer.json()["code"]) == (409, "auth.sign_up_off")


async def test_whoever_signs_up_proves_their_address_first(api: Api, mailbox: Letters):
    await open_sign_up(api, sign_up_email_domains=["Example.org"])
    elsewhere = await post(api, "/auth/sign-up", {**ADA, "email": "ada@example.com"})
    assert elsewhere.json()["code"] == "auth.sign_up_email"
    weak = await post(api, "/auth/sign-up", {**ADA, "password": "ada@example.org"})
    assert (weak.status_code, weak.json()["code"]) == (422, "password.too_common")
    assert (await post(api, "/auth/sign-up", ADA)).status_code == 202
    _, text = await mailbox.newest(1)
    assert await login(api, NEW, "ada@example.org") == 401
    wind(api, minutes=2)
    assert (await post(api, "/auth/verify-again", {"email": "ada@example.org"})).status_code == 202
    _, second = await mailbox.newest(2)
    first = await post(api, "/auth/verify", {"token": token_in(text, "verify-email")})
    assert first.json()["code"] == "auth.link_spent"
    assert (await post(api, "/auth/verify", {"token": token_in(second, "verify-email")})).status_code == 204
    ada = await sign_in(api, "ada", NEW)
    me = (await ada.get("/auth/me")).json()
    assert me["user"]["role"] == "user"
    assert [project["id"] for project in me["projects"]] == [api.people.project]
    rows = await sql(
        api.database,
        "SELECT kind, data->>'state' FROM events WHERE data->>'email' = 'ada@example.org' ORDER BY id",
    )
    assert rows == [("user.created", "unverified"), ("user.updated", "active")]
    assert (await post(api, "/auth/verify-again", {"email": "ada@example.org"})).status_code == 202
    assert len(mailbox.got) == 2


async def test_nobody_fills_the_mailbox_of_who_has_an_account(api: Api, mailbox: Letters):
    await open_sign_up(api)
    mailbox.refuse = "451 come back later"

    async def written(times: int) -> int:
        for _ in range(times):
            again = await post(api, "/auth/sign-up", {**ADA, "email": "user@example.org"})
            assert again.status_code == 202
        await api.services.mailer.close()
        return (await sql(api.database, "SELECT count(*) FROM outbox"))[0][0]  # type: ignore[no-any-return]

    assert await written(3) == 1
    wind(api, minutes=2)
    assert await written(2) == 2


async def test_accounts_that_nobody_verifies_are_deleted_after_a_week(api: Api, mailbox: Letters):
    await open_sign_up(api)
    for name in ("late", "fresh", "proved"):
        await post(api, "/auth/sign-up", {**ADA, "email": f"{name}@example.org"})
    await sql(api.database, "UPDATE users SET created_at = now() - interval '8 days' WHERE name = 'Ada'")
    await sql(api.database, "UPDATE users SET created_at = now() WHERE email = 'fresh@example.org'")
    await sql(api.database, "UPDATE users SET state = 'active' WHERE email = 'proved@example.org'")
    # Nor is one deleted that an administrator made.
    await sql(
        api.database,
        "UPDATE users SET state = 'unverified', created_at = '2020-01-01' WHERE name = 'stranger'",
    )
    for days, gone in ((0, set()), (7, {"late@example.org"})):
        await set_site(api, sign_up_keep_days=days)
        async with api.database.transaction() as tx:
            await sign_up.prune(tx, api.services.clock.now())
        names = {"late@example.org", "fresh@example.org", "proved@example.org", "stranger@example.org"}
        kept = {email for (email,) in await sql(api.database, "SELECT email FROM users")}
        assert names - kept == gone
    noted = await sql(
        api.database, "SELECT object_name, credential, details->>'why' FROM audit WHERE action = 'user.purge'"
    )
    assert noted == [("late@example.org", "carrel", "never verified")]
    rows = await sql(
        api.database,
        "SELECT data->>'email', data->>'state', domain_id FROM events WHERE kind = 'user.updated' "
        "AND object_id NOT IN (SELECT id FROM users)",
    )
    assert rows == [("late@example.org", "purged", api.people.domain)]
    assert (await post(api, "/auth/sign-up", {**ADA, "email": "late@example.org"})).status_code == 202


async def test_whoever_has_an_account_is_told_by_mail_alone(api: Api, mailbox: Letters):
    await open_sign_up(api)
    answers = [
        await post(api, "/auth/sign-up", {**ADA, "email": name})
        for name in ("USER@example.org", "new@example.org")
    ]
    assert {(answer.status_code, answer.text) for answer in answers} == {(202, "null")}
    await mailbox.newest(2)
    by_person = {letter["To"]: letter["Subject"] for letter in mailbox.got}
    assert by_person["user@example.org"] == "You already have a Carrel account"
    assert await login(api, PASSWORD) == 200


async def test_without_verification_an_account_is_open_at_once(api: Api):
    await open_sign_up(api, sign_up_verification=False)
    assert (await post(api, "/auth/sign-up", ADA)).status_code == 202
    await sign_in(api, "ada", NEW)
    rows = await sql(api.database, "SELECT actor_email, details FROM audit WHERE action = 'auth.sign_up'")
    assert rows == [("ada@example.org", {"after": {"state": "active"}})]


async def test_a_link_to_verify_sets_no_password(api: Api, mailbox: Letters):
    await open_sign_up(api)
    await post(api, "/auth/sign-up", ADA)
    _, text = await mailbox.newest(1)
    token = token_in(text, "verify-email")
    assert (
        await post(api, "/auth/reset", {"token": token, "password": "yet another password 8"})
    ).status_code == 404
    assert (await post(api, "/auth/verify", {"token": "nonesuch"})).status_code == 404
