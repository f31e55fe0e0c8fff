"""Settings of the installation, and what the sign-in page is told."""

import json
import re
from pathlib import Path

import pytest
from auth_kit import set_site, sign_in
from databases import sql
from installation import Api

from carrel.site.schemas import SiteSettings


async def test_superadmins_alone_see_and_change_them(api: Api):
    await sql(api.database, "UPDATE users SET role = 'domain_admin' WHERE email = 'colleague@example.org'")
    for name in ("user", "colleague"):
        caller = await api.as_(name)
        for method, path, body in (
            ("GET", "/site", None),
            ("PATCH", "/site", {"lock_minutes": 5}),
            ("POST", "/site/test-mail", {"to": "a@example.org"}),
        ):
            answer = await caller.ask(method, path, json=body)
            assert (answer.status_code, answer.json()["code"]) == (403, "policy.forbidden"), (name, path)
    shown = (await (await api.as_("superadmin")).get("/site")).json()
    assert shown == {
        **SiteSettings().model_dump(mode="json"),
        "mail_password_set": False,
        "mail_error": None,
        "mail_error_at": None,
        "mail_waiting": 0,
    }


async def test_only_what_is_present_changes_and_is_noted_without_secrets(api: Api):
    admin = await api.as_("superadmin")
    await set_site(api, lock_minutes=5)
    changed = await admin.patch(
        "/site", {"announcement": "*Hello*", "lock_minutes": 5, "mail_password": "hidden"}
    )
    assert (changed.json()["lock_minutes"], changed.json()["announcement"]) == (5, "*Hello*")
    assert changed.json()["mail_password_set"] is True
    assert "hidden" not in changed.text
    rows = await sql(api.database, "SELECT details FROM audit WHERE action = 'site.update' ORDER BY id")
    assert rows == [
        ({"before": {"lock_minutes": 20}, "after": {"lock_minutes": 5}},),
        ({"before": {"announcement": ""}, "after": {"announcement": "*Hello*", "mail_password": "changed"}},),
    ]
    assert b"hidden" not in (await sql(api.database, "SELECT mail_password FROM site"))[0][0]
    assert (await admin.patch("/site", {"mail_password": None})).json()["mail_password_set"] is False
    await admin.patch("/site", {})
    assert len(await sql(api.database, "SELECT 1 FROM audit WHERE action = 'site.update'")) == 3


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"lock_minutes": 0}, "lock_minutes"),
        ({"lock_minutes": None}, "lock_minutes"),
        ({"nonesuch": 1}, "nonesuch"),
        ({"mail_sender": "not an address"}, "mail_sender"),
        ({"mail_sender": "a@b.c\r\nBcc: d@e.f"}, "mail_sender"),
        ({"mail_host": "smtp.example.org"}, "mail_sender"),
        ({"sign_up": True}, "sign_up_domain"),
        ({"second_factor": "some"}, "second_factor"),
        ({"sign_up_email_domains": ["@x"]}, "sign_up_email_domains.0"),
    ],
)
async def test_what_makes_no_sense_is_refused(api: Api, changes: dict, field: str):  # type: ignore[type-arg]
    answer = await (await api.as_("superadmin")).patch("/site", changes)
    assert (answer.status_code, answer.json()["field"]) == (422, field), answer.text
    assert await sql(api.database, "SELECT 1 FROM site WHERE values <> '{}'") == []


async def test_a_setting_of_another_version_is_left_alone(api: Api):
    values = {"of_tomorrow": 1, "lock_minutes": 7}
    await sql(
        api.database,
        "INSERT INTO site (id, values) VALUES (1, CAST(:values AS jsonb)) "
        "ON CONFLICT (id) DO UPDATE SET values = excluded.values",
        values=json.dumps(values),
    )
    await set_site(api, announcement="x")
    assert (await sql(api.database, "SELECT values FROM site")) == [
        ({"of_tomorrow": 1, "lock_minutes": 7, "announcement": "x"},)
    ]


async def test_the_sign_in_page_is_told_what_it_must_know(api: Api):
    greeting = (await (await api.as_("anonymous")).get("/auth/greeting")).json()
    assert greeting == {
        "languages": ["en", "ko", "ja"],
        "password": {"min_length": 10, "classes": 2, "refuse_common": True, "history": 5},
        "sign_up": {"open": False, "email_domains": [], "verification": True},
        "forgot_password": False,
        "passkeys": True,
        "providers": [],
        "announcement": "",
    }
    await set_site(
        api,
        mail_host="smtp.example.org",
        mail_sender="carrel@example.org",
        announcement="*Closed*",
        sign_up=True,
        sign_up_domain=api.people.domain,
        sign_up_project=api.people.project,
        sign_up_email_domains=["example.org"],
    )
    greeting = (await (await api.as_("anonymous")).get("/auth/greeting")).json()
    assert greeting["sign_up"] == {"open": True, "email_domains": ["example.org"], "verification": True}
    assert greeting["forgot_password"] is True
    assert greeting["announcement"] == "*Closed*"


async def test_a_browser_changes_them_with_its_token(api: Api):
    admin = await sign_in(api, "admin")
    assert (await admin.patch("/site", {"lock_minutes": 5})).status_code == 200
    assert (await admin.patch("/site", {"lock_minutes": 6}, headers={"X-Carrel-CSRF": ""})).status_code == 403


def test_every_setting_is_documented_with_its_default():
    page = Path(__file__).parents[3] / "docs/reference/site-settings.md"
    rows = dict(re.findall(r"^\| `(\w+)` \| (\S+) \|", page.read_text(), re.MULTILINE))
    assert rows.pop("mail_password") == "-"
    defaults = SiteSettings().model_dump(mode="json")
    shown = {name: f"`{json.dumps(value)}`".replace('"', "") for name, value in defaults.items()}
    assert rows == {
        name: "-" if text in ("`null`", "``", "`[]`", "`{}`") else text for name, text in shown.items()
    }
