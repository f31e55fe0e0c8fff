"""No secret of signing in is kept readable, logged, or said in an error; and time tells nobody who has an account."""

from pathlib import Path
from typing import Literal

import argon2
import pytest
from auth_kit import SecurityKey, accept, add_passkey, add_totp, set_site, sign_in, wind
from databases import sql
from installation import API, Api
from people import PASSWORD

from carrel.identity import passwords

NEW, MAIL_SECRET = "another fine password 7", "the secret of the mail server"


async def everything_kept(api: Api) -> dict[str, str]:
    """Every row of every table, by table; bytes are written in hex."""
    tables = await sql(api.database, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    return {
        table: (await sql(api.database, f"SELECT coalesce(json_agg(t)::text, '') FROM \"{table}\" t"))[0][0]
        for (table,) in tables
    }


async def test_no_secret_of_signing_in_is_kept_or_logged(api: Api, log_file: Path):
    secrets, errors = [PASSWORD, NEW, MAIL_SECRET, "wrong guess", "gu3ss 0f a c0de"], ""
    await set_site(
        api,
        mail_host="127.0.0.1",
        mail_port=9,
        mail_sender="a@example.org",
        mail_user="u",
        mail_password=MAIL_SECRET,
    )
    user = await sign_in(api, "user")
    secrets += [user.http.cookies["carrel_session"], user.http.headers["X-Carrel-CSRF"]]
    offer = (await user.post("/factors/totp")).json()
    app, codes = await add_totp(api, user)
    secrets += [offer["secret"], app.secret, *codes, *(code.replace("-", "") for code in codes)]
    key = SecurityKey()
    await add_passkey(user, key)
    pair = (await user.post("/keypairs")).json()
    token = (await user.post("/tokens", {"name": "t", "scopes": ["session.read"]})).json()
    secrets += [pair["secret_key"], token["token"]]
    wind(api, seconds=30)
    half = await sign_in(api, "user")
    for path, body in (
        ("/auth/factor", {"code": "gu3ss 0f a c0de"}),
        ("/auth/factor", {"recovery_code": "wrong guess"}),
        ("/auth/factor", {"code": ["wrong guess"]}),
        ("/auth/login", {"email": "wrong guess", "password": NEW}),
        ("/auth/reset", {"token": "wrong guess", "password": NEW}),
        ("/auth/verify", {"token": "wrong guess"}),
        ("/auth/sign-up", {"email": "x@example.org", "name": "X", "password": {"wrong guess": NEW}}),
    ):
        answer = await half.post(path, body)
        assert answer.status_code >= 400
        errors += answer.text
    code = app.at(wind(api))
    accept(half.http, await half.post("/auth/factor", {"code": code}))
    secrets += [half.http.cookies["carrel_session"], half.http.headers["X-Carrel-CSRF"]]
    errors += (await half.post("/auth/password", {"current": "wrong guess", "new": NEW})).text
    admin = await api.as_("superadmin")
    link = (await admin.post("/users/user@example.org/recover")).json()["url"].split("token=")[1]
    assert (await half.post("/auth/reset", {"token": link, "password": NEW})).status_code == 204
    secrets.append(link)
    await half.post("/auth/forgot", {"email": "user@example.org"})
    errors += (await admin.post("/site/test-mail", {"to": "ops@example.org"})).text
    # Something breaks in the middle of a statement that carries secrets.
    await sql(api.database, "ALTER TABLE former_passwords ADD CONSTRAINT broken CHECK (false) NOT VALID")
    again = await sign_in(api, "colleague")
    broken = await again.post("/auth/password", {"current": PASSWORD, "new": NEW})
    assert broken.status_code == 500
    errors += broken.text
    kept, written = await everything_kept(api), log_file.read_text()
    assert broken.json()["request_id"] in written
    csrf_tokens = {secret for (secret,) in await sql(api.database, "SELECT csrf_token FROM logins")}
    for secret in secrets:
        assert secret not in written, f"{secret} is in the log"
        assert secret not in errors, f"{secret} is in an error"
        for table, rows in kept.items():
            for form in (secret, secret.encode().hex()):
                # A CSRF token is of no use without its cookie, which is kept as a hash.
                assert form not in rows or (table == "logins" and secret in csrf_tokens), (
                    f"{secret} is in {table}"
                )


async def test_time_does_not_tell_who_has_an_account(api: Api, monkeypatch: pytest.MonkeyPatch):
    await set_site(api, lock_attempts=100)
    # What is made in production, which the hash of nobody has cost too.
    real = argon2.PasswordHasher(time_cost=3, memory_cost=64 * 1024, parallelism=4).hash(PASSWORD)
    await sql(api.database, "UPDATE users SET password_hash = :h WHERE email = 'user@example.org'", h=real)
    compared: list[argon2.Parameters] = []

    class Hasher(argon2.PasswordHasher):
        def verify(self, stored: str | bytes, password: str | bytes) -> Literal[True]:
            compared.append(argon2.extract_parameters(str(stored)))
            return super().verify(stored, password)

    monkeypatch.setattr(passwords, "_hasher", Hasher())
    client = await api.client()
    for email in ("user@example.org", "nobody@example.org"):
        answer = await client.post(f"{API}/auth/login", json={"email": email, "password": "wrong"})
        assert answer.status_code == 401
    # Nearly all of the time goes into the one hash, and its parameters say how much.
    known, unknown = compared
    assert known == unknown
