"""Single sign-on by a real OpenID provider, through its own pages."""

import base64
import hashlib
import re
import secrets
from datetime import UTC, datetime, timedelta
from html import unescape
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from databases import scalar, sql
from installation import API
from own_openid_provider import sign_in_there
from people import PASSWORD
from sqlalchemy import text
from sso_kit import ADA, CALLBACK, START, Sso, error_of, me

from carrel.signin.providers.sign_on import own_path


async def projects(browser: httpx2.AsyncClient) -> dict[str, bool]:
    return {project["name"]: project["admin"] for project in (await me(browser))["projects"]}


async def test_who_comes_for_the_first_time_gets_an_account_and_has_it_the_next_time(sso: Sso):
    browser = await sso.browser()
    back = await sso.leave(browser, return_to="/sessions?state=live")
    answer = await browser.get(back)
    assert (answer.status_code, answer.headers["location"]) == (303, "/sessions?state=live")
    first = (await me(browser))["user"]
    assert (first["email"], first["name"], first["role"]) == ("ada@corp.example", "Ada Lovelace", "user")
    assert first["domain"]["name"] == "default"
    sso.account("ada", name="Ada King", email="ada.king@corp.example")
    second = (await me(await sso.sign_in()))["user"]
    assert (second["id"], second["name"]) == (first["id"], "Ada King")
    assert second["email"] == first["email"]
    async with sso.api.database.transaction() as tx:
        noted = await tx.execute(text("SELECT credential, outcome FROM audit WHERE action = 'auth.login'"))
        assert {tuple(row) for row in noted} == {("oidc:corp", "done")}


async def test_claims_are_read_from_the_token_where_they_are_in_it(sso: Sso):
    sso.there.stop()
    sso.there.in_token = True
    sso.there.write()
    sso.there.start()
    assert (await me(await sso.sign_in()))["user"]["name"] == "Ada Lovelace"


async def test_the_sign_in_page_offers_the_provider_while_it_is_in_use(sso: Sso):
    await sso.change(label="Our company")
    browser = await sso.browser()
    offered = (await browser.get(f"{API}/auth/greeting")).json()["providers"]
    assert offered == [{"name": "corp", "label": "Our company", "kind": "oidc", "start": START}]
    await sso.change(active=False)
    assert (await browser.get(f"{API}/auth/greeting")).json()["providers"] == []
    assert error_of(await browser.get(START)) == "provider.not_found"


async def test_switching_a_provider_off_or_removing_it_ends_the_sign_ins_by_it_and_no_others(sso: Sso):
    admin, local = await sso.api.as_("superadmin"), await sso.api.browser("user")
    for off in ("switched off", "removed"):
        browsers = [await sso.sign_in(), await sso.sign_in()]
        async with sso.api.database.transaction() as tx:
            # One of them went on with a second step.
            await tx.execute(
                text(
                    "UPDATE logins SET method = 'oidc:corp+totp' WHERE ctid = "
                    "(SELECT ctid FROM logins WHERE method = 'oidc:corp' LIMIT 1)"
                )
            )
        page = await (waiting := await sso.browser()).get(
            await sso.leave(waiting, port=45454, challenge=(way := pkce())[1])
        )
        assert (await admin.get("/providers/corp")).json()["sign_ins"] == 2
        if off == "switched off":
            await sso.change(active=False)
        else:
            assert (await admin.delete("/providers/corp")).status_code == 204
        for browser in browsers:
            assert (await browser.get(f"{API}/auth/me")).status_code == 401
        assert (await local.get("/auth/me")).status_code == 200
        # Nor does a code that was handed out before open anything now.
        code = re.search(r"code=([\w-]+)", page.text)
        assert code
        late = await waiting.post(
            f"{API}/auth/providers/exchange", json={"code": code[1], "verifier": way[0]}
        )
        assert (late.status_code, late.json()["code"]) == (403, "auth.refused")
        noted = (await admin.get("/audit", params={"action": "provider.update"})).json()["items"][0]
        assert noted["details"]["sign_ins_ended"] == 2
        if off == "switched off":
            await sso.change(active=True)


async def test_a_way_back_is_good_once_and_in_its_own_browser_only(sso: Sso):
    browser, other = await sso.browser(), await sso.browser()
    back = await sso.leave(browser)
    await other.get(START)
    assert error_of(await other.get(back)) == "provider.other_browser"
    assert error_of(await browser.get(back)) == "provider.expired"
    back = await sso.leave(browser)
    assert "error" not in (await browser.get(back)).headers["location"]
    assert error_of(await browser.get(back)) == "provider.expired"


async def test_two_tabs_do_not_get_into_each_others_way(sso: Sso):
    browser = await sso.browser()
    here, there = await sso.leave(browser, return_to="/here"), await sso.leave(browser, return_to="/there")
    assert (await browser.get(here)).headers["location"] == "/here"
    assert (await browser.get(there)).headers["location"] == "/there"


async def test_an_old_or_invented_or_strayed_way_back_is_refused(sso: Sso):
    browser = await sso.browser()
    assert error_of(await browser.get(CALLBACK, params={"code": "x", "state": "y"})) == "provider.expired"
    assert error_of(await browser.get(CALLBACK)) == "provider.expired"
    back = await sso.leave(browser)
    await sql(sso.api.database, "UPDATE challenges SET expires_at = now() - interval '1 second'")
    assert error_of(await browser.get(back)) == "provider.expired"
    back = await sso.leave(browser)
    assert error_of(await browser.get(back.replace("/corp/", "/other/"))) == "provider.not_found"
    # The code of one way with the state of another: the verifier does not fit.
    one, two = (
        parse_qs(urlsplit(await sso.leave(browser)).query),
        parse_qs(urlsplit(await sso.leave(browser)).query),
    )
    mixed = {**{name: value[0] for name, value in one.items()}, "state": two["state"][0]}
    assert error_of(await browser.get(CALLBACK, params=mixed)) == "provider.bad_answer"
    assert (await browser.get(f"{API}/auth/me")).status_code == 401


async def test_another_providers_answer_is_not_taken(sso: Sso):
    browser = await sso.browser()
    back = await sso.leave(browser)
    issuer = httpx2.URL(back).params["iss"]
    assert issuer == sso.there.issuer
    strange = str(httpx2.URL(back).copy_merge_params({"iss": "https://other.example"}))
    assert error_of(await browser.get(strange)) == "provider.bad_answer"
    bare = str(httpx2.URL(await sso.leave(browser)).copy_remove_param("iss"))
    assert error_of(await browser.get(bare)) == "provider.bad_answer"


async def test_who_turns_back_at_the_provider_is_told_so(sso: Sso):
    browser = await sso.browser()
    answer = await browser.get(START, params={"return_to": "/sessions"})
    state = parse_qs(urlsplit(answer.headers["location"]).query)["state"][0]
    answer = await browser.get(CALLBACK, params={"error": "access_denied", "state": state})
    assert error_of(answer) == "provider.denied"
    assert "next=%2Fsessions" in answer.headers["location"]
    (noted,) = (
        await (await sso.api.as_("superadmin")).get("/audit", params={"action": "auth.login"})
    ).json()["items"]
    assert (noted["outcome"], noted["credential"]) == ("refused", "oidc:corp")
    assert noted["reason"] == "corp denied the sign-in."


@pytest.mark.parametrize(
    "location",
    [
        "//evil.example",
        "https://evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "javascript:alert(1)",
        "/api/v1/auth/logout",
        "/\t/evil.example",
        "/a\r\nSet-Cookie: x=y",
        "",
        "evil",
    ],
)
def test_no_way_leads_elsewhere(location: str):
    assert own_path(location) == "/"


async def test_a_way_to_elsewhere_ends_at_the_start_page(sso: Sso):
    browser = await sso.browser()
    answer = await browser.get(await sso.leave(browser, return_to="//evil.example/x"))
    assert answer.headers["location"] == "/"


async def test_when_the_provider_is_down_that_is_said_and_others_sign_in(sso: Sso):
    browser = await sso.browser()
    back = await sso.leave(browser)
    sso.there.stop()
    assert error_of(await browser.get(back)) == "provider.unreachable"
    admin = await sso.api.as_("superadmin")
    tried = (await admin.post("/providers/corp/test")).json()
    assert (tried["ok"], [step["name"] for step in tried["steps"]]) == (False, ["discovery"])
    assert "cannot be reached" in tried["steps"][0]["sentence"]
    assert error_of(await browser.get(START)) == "provider.unreachable"
    answer = await browser.post(f"{API}/auth/login", json={"email": "user@example.org", "password": PASSWORD})
    assert answer.status_code == 200
    sso.there.start()
    tried = (await admin.post("/providers/corp/test")).json()
    assert tried["ok"], tried
    assert [step["name"] for step in tried["steps"]] == ["discovery", "keys"]


async def test_a_wrong_secret_is_named_as_such(sso: Sso):
    await sso.change(client_secret="wrong")
    assert await sso.refused() == "provider.misconfigured"


async def test_new_keys_of_the_provider_are_learned(sso: Sso):
    await sso.sign_in()
    sso.there.stop()
    sso.there.write(fresh_keys=True)
    sso.there.start()
    await sso.sign_in()


async def test_groups_give_and_take_projects_and_leave_those_given_by_hand(sso: Sso):
    rules = [
        {"group": "staff", "project": "default"},
        {"group": "leads", "project": "default", "admin": True},
        {"group": "guests", "project": "other"},
    ]
    await sso.change(mapping=rules)
    sso.account("ada", groups=["staff"])
    assert await projects(await sso.sign_in()) == {"default": False}
    sso.account("ada", groups=["staff", "leads"])
    assert await projects(await sso.sign_in()) == {"default": True}
    sso.account("ada", groups=["staff"])
    browser = await sso.sign_in()
    assert await projects(browser) == {"default": False}
    admin, user = await sso.api.as_("superadmin"), (await me(browser))["user"]["id"]
    answer = await admin.post("/projects/other/members", {"users": [user], "admin": True})
    assert answer.status_code == 200, answer.text
    sso.account("ada", groups=["guests"])
    assert await projects(await sso.sign_in()) == {"other": True}
    sso.account("ada", groups=[])
    assert await projects(await sso.sign_in()) == {"other": True}
    noted = (await admin.get("/audit", params={"action": "project.enrol"})).json()["items"]
    assert {entry["credential"] for entry in noted if entry["actor"]["email"] == ADA["email"]} == {
        "oidc:corp"
    }


async def test_groups_give_and_take_roles_and_superadmins_only_where_that_is_allowed(sso: Sso):
    admin = await sso.api.as_("superadmin")
    rules = [{"group": "bosses", "role": "superadmin"}, {"group": "deans", "role": "domain_admin"}]
    refused = await admin.patch("/providers/corp", {"mapping": rules})
    assert refused.json()["code"] == "provider.rule_superadmin"
    await sso.change(mapping=rules, may_appoint_superadmins=True)
    for groups, role in ((["bosses", "deans"], "superadmin"), (["deans"], "domain_admin"), ([], "user")):
        sso.account("ada", groups=groups)
        assert (await me(await sso.sign_in()))["user"]["role"] == role
    await sql(sso.api.database, "UPDATE users SET role = 'domain_admin' WHERE email = 'ada@corp.example'")
    assert (await me(await sso.sign_in()))["user"]["role"] == "domain_admin"


async def test_who_is_disabled_here_stays_out(sso: Sso):
    await sso.sign_in()
    await sql(sso.api.database, "UPDATE users SET state = 'inactive' WHERE email = 'ada@corp.example'")
    sso.account("ada", name="Somebody Else")
    assert await sso.refused() == "auth.refused"
    kept = await scalar(sso.api.database, "SELECT name FROM users WHERE email = 'ada@corp.example'")
    assert kept == "Ada Lovelace"


async def test_an_account_is_given_only_where_the_provider_may_say_whose_it_is(sso: Sso):
    sso.account("user", email="User@example.org", email_verified=True, name="Not They")
    assert await sso.refused("user") == "provider.email_taken"
    await sso.change(trusted_email_domains=["example.org"])
    linked = (await me(await sso.sign_in("user")))["user"]
    assert linked["id"] == sso.api.people.user.user_id
    sso.account("admin", email="admin@example.org", email_verified=True, name="Boss")
    assert await sso.refused("admin") == "provider.email_taken"
    await sso.change(may_appoint_superadmins=True)
    assert (await me(await sso.sign_in("admin")))["user"]["role"] == "superadmin"


async def test_no_account_without_an_email_that_is_verified(sso: Sso):
    sso.account("ada", email_verified=False)
    assert await sso.refused() == "provider.email_unverified"
    sso.account("bob", name="Bob")
    assert await sso.refused("bob") == "provider.no_email"
    await sso.change(require_verified_email=False)
    await sso.sign_in()


async def test_strangers_are_turned_away_where_no_accounts_are_made(sso: Sso):
    await sso.change(create_users=False)
    assert await sso.refused() == "provider.not_invited"
    made = await scalar(sso.api.database, "SELECT count(*) FROM users WHERE email LIKE '%corp.example'")
    assert made == 0


async def test_a_second_factor_here_is_asked_for_unless_the_provider_had_one(sso: Sso):
    user = (await me(await sso.sign_in()))["user"]["id"]
    await sql(
        sso.api.database,
        "INSERT INTO totps (user_id, secret, confirmed_at) VALUES (:user, 'x', now())",
        user=user,
    )
    assert (await me(await sso.sign_in()))["pending"] == "factor"
    await sso.change(trusted_factors=["mfa"])
    assert (await me(await sso.sign_in()))["pending"] == "factor"
    sso.account("ada", amr=["pwd", "mfa"])
    assert (await me(await sso.sign_in()))["pending"] is None


async def test_coming_from_a_provider_is_proof_as_far_as_it_was_proved_there(sso: Sso):
    async def proved(browser: httpx2.AsyncClient) -> datetime:
        """When the newest sign-in says that it was proved."""
        assert (await me(browser))["pending"] is None
        async with sso.api.database.transaction() as tx:
            newest = text("SELECT confirmed_at FROM logins ORDER BY created_at DESC LIMIT 1")
            return (await tx.execute(newest)).scalar_one()  # type: ignore[no-any-return]

    browser = await sso.sign_in()
    first = await proved(browser)
    assert timedelta(0) <= datetime.now(UTC) - first < timedelta(minutes=1)
    # The browser is signed in at the provider still, which lets anybody come who sits down there.
    answer = await browser.get(START)
    assert "max_age=2592000" in answer.headers["location"]
    await browser.get(await sign_in_there(browser, answer.headers["location"], "ada"))
    assert await proved(browser) == first
    await sql(sso.api.database, "UPDATE logins SET confirmed_at = confirmed_at - interval '16 minutes'")
    sso.api.services.authenticator.forget()
    browser.headers["X-Carrel-CSRF"] = (await me(browser))["csrf_token"]
    assert (await browser.post(f"{API}/keypairs", json={})).json()["code"] == "auth.confirm_needed"
    # Who shall be asked there is, if it was long ago; a command line always wants that.
    for query in ({"fresh": True}, {"port": 45454, "challenge": pkce()[1]}):
        assert "max_age=900" in (await browser.get(START, params=query)).headers["location"]
    await browser.get(await sso.leave(browser, fresh=True))
    browser.headers["X-Carrel-CSRF"] = (await me(browser))["csrf_token"]
    assert (await browser.post(f"{API}/keypairs", json={})).status_code == 201


def pkce() -> tuple[str, str]:
    verifier = secrets.token_urlsafe(48)
    digest = hashlib.sha256(verifier.encode()).digest()
    return verifier, base64.urlsafe_b64encode(digest).decode().rstrip("=")


async def test_coming_again_in_the_same_browser_is_the_same_sign_in(sso: Sso):
    browser = await sso.sign_in()
    [first] = (await browser.get(f"{API}/logins")).json()["items"]
    await browser.get(await sso.leave(browser))
    [again] = (await browser.get(f"{API}/logins")).json()["items"]
    assert (again["id"], again["current"]) == (first["id"], True)
    assert again["created_at"] > first["created_at"]


async def test_pages_hear_of_who_comes_for_the_first_time(sso: Sso):
    await sso.sign_in()
    async with sso.api.database.transaction() as tx:
        kinds = await tx.execute(text("SELECT kind, data->>'email' FROM events WHERE object_kind = 'user'"))
        assert ("user.created", "ada@corp.example") in {tuple(row) for row in kinds}


async def test_a_waiting_command_line_gets_a_code_after_a_yes_and_nothing_before(sso: Sso):
    verifier, challenge = pkce()
    browser = await sso.browser()
    page = await browser.get(await sso.leave(browser, port=45454, challenge=challenge))
    assert page.status_code == 200
    assert "ada@corp.example" in page.text
    assert (await browser.get(f"{API}/auth/me")).status_code == 401
    link = re.search(r'href="(http://127\.0\.0\.1:45454/\?[^"]+)"', page.text)
    assert link
    code = parse_qs(urlsplit(unescape(link[1])).query)["code"][0]
    line = await sso.api.client()
    made = await line.post(f"{API}/auth/providers/exchange", json={"code": code, "verifier": verifier})
    assert made.json()["user"]["email"] == "ada@corp.example"
    assert (await me(line))["pending"] is None
    again = await line.post(f"{API}/auth/providers/exchange", json={"code": code, "verifier": verifier})
    assert (again.status_code, again.json()["code"]) == (401, "provider.expired")


async def test_a_code_is_worth_nothing_without_its_verifier(sso: Sso):
    verifier, challenge = pkce()
    browser, line = await sso.browser(), await sso.api.client()
    page = await browser.get(await sso.leave(browser, port=45454, challenge=challenge))
    code = re.search(r"code=([\w-]+)", page.text)
    assert code
    wrong = {"code": code[1], "verifier": pkce()[0]}
    assert (await line.post(f"{API}/auth/providers/exchange", json=wrong)).status_code == 401
    right = {"code": code[1], "verifier": verifier}
    assert (await line.post(f"{API}/auth/providers/exchange", json=right)).status_code == 401


async def test_a_waiting_command_line_hears_why_not(sso: Sso):
    browser = await sso.browser()
    await sso.change(create_users=False)
    answer = await browser.get(await sso.leave(browser, port=45454, challenge=pkce()[1]))
    assert answer.headers["location"] == "http://127.0.0.1:45454/?error=provider.not_invited"
