"""Sessions shared through the API: who may see and do what, until when, and who may share."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from auth_kit import set_site
from databases import sql
from events_kit import following
from installation import Api, Caller
from mail_kit import mail_server
from notifications.test_webhooks import Walk, add
from people_kit import domain_admin, officer, project_admin, status_and_code
from session_kit import force_state
from webhook_receiver import receiver

from carrel.site import outbox
from carrel.tables.session_states import SessionState

READS = ("", "/history", "/usage", "/logs", "/why", "/apps", "/graph")
CHANGES: tuple[tuple[str, str, object], ...] = (
    ("PATCH", "", {"name": "another"}),
    ("PUT", "/priority", {"priority": 10}),
    ("PUT", "/time-limit", {"time_limit_s": 7200}),
    ("PUT", "/exemption", {"exempt": True}),
    ("POST", "/keep", None),
    ("POST", "/restart", None),
    ("POST", "/again", None),
    ("DELETE", "", None),
    ("GET", "/shares", None),
    ("POST", "/shares", {"user": "colleague@example.org"}),
    ("DELETE", "/shares/colleague@example.org", None),
)


async def shared(owner: Caller, session: str, **terms: object) -> dict[str, Any]:
    answer = await owner.post(f"/sessions/{session}/shares", terms)
    assert answer.status_code == 201, answer.text
    return answer.json()  # type: ignore[no-any-return]


async def listed(caller: Caller, owner: str) -> list[str]:
    answer = await caller.get(f"/sessions?owner={owner}")
    assert answer.status_code == 200, answer.text
    return [row["id"] for row in answer.json()["items"]]


async def sees(caller: Caller, session: str) -> bool:
    status = (await caller.get(f"/sessions/{session}")).status_code
    assert status in (200, 404)
    return status == 200


@pytest.mark.parametrize(("level", "open_app"), [("look", "policy.forbidden"), ("use", "app.not_found")])
async def test_a_share_permits_what_its_level_says_and_nothing_else(api: Api, level: str, open_app: str):
    user, stranger = await api.as_("user"), await api.as_("stranger")
    session = (await user.start(name="desk", env={"KEY": "hidden"}, bootstrap="echo hidden"))["id"]
    await force_state(api.database, session, SessionState.RUNNING)
    assert not await sees(stranger, session)
    grant = await shared(user, session, user="Stranger@example.org", level=level)
    assert (grant["user"]["email"], grant["level"], grant["url"]) == ("stranger@example.org", level, None)
    for path in READS:
        answer = await stranger.get(f"/sessions/{session}{path}")
        assert answer.status_code == 200, (path, answer.text)
        assert "hidden" not in answer.text, path
    detail = (await stranger.get("/sessions/desk")).json()
    assert (detail["shared_as"], detail["owner"]["email"]) == (level, "user@example.org")
    assert (await user.get("/sessions/desk")).json()["shared_as"] is None
    for method, path, body in CHANGES:
        refused = await stranger.ask(method, f"/sessions/{session}{path}", json=body)
        assert status_and_code(refused) == (403, "policy.forbidden"), (method, path)
    for path in ("open", "token"):
        # It has no apps: this is answered to those who may open one.
        answer = await stranger.post(f"/sessions/{session}/apps/web/{path}")
        assert answer.json()["code"] == open_app, answer.text


async def test_shared_sessions_are_in_lists_of_their_own(api: Api):
    user, stranger, admin = await api.as_("user"), await api.as_("stranger"), await api.as_("superadmin")
    mine, other = [(await user.start())["id"] for _ in range(2)]
    own = (await stranger.start(project=api.people.other_project))["id"]
    assert await listed(stranger, "shared") == []
    await shared(user, mine, user="stranger@example.org")
    assert await listed(stranger, "shared") == [mine]
    assert await listed(stranger, "me") == [own]
    assert await listed(stranger, "all") == [own, mine]
    assert await listed(stranger, "user@example.org") == [mine]
    assert await listed(user, "shared") == []
    assert set(await listed(admin, "all")) == {own, mine, other}
    usage = await stranger.get(f"/usage?sessions={mine},{other}")
    assert other not in usage.text


async def test_the_members_of_a_project_have_access_while_they_are_members(api: Api):
    user, stranger, admin = await api.as_("user"), await api.as_("stranger"), await api.as_("superadmin")
    await admin.post(f"/projects/{api.people.other_project}/members", {"users": ["user@example.org"]})
    session = (await user.start(project=api.people.project))["id"]
    await shared(user, session, project="other", level="use")
    assert (await stranger.get(f"/sessions/{session}")).json()["shared_as"] == "use"
    assert (await user.get(f"/sessions/{session}")).json()["shared_as"] is None
    gone = await admin.delete(f"/projects/{api.people.other_project}/members/stranger@example.org")
    assert gone.is_success, gone.text
    assert not await sees(stranger, session)


async def test_shares_end_by_expiry_and_by_revocation(api: Api):
    user, stranger = await api.as_("user"), await api.as_("stranger")
    session = (await user.start(name="desk"))["id"]
    grant = await shared(user, session, user="stranger@example.org", expires_in_s=3600)
    assert grant["expires_at"] > grant["created_at"]
    shares = (await user.get("/sessions/desk/shares")).json()["items"]
    assert [(one["id"], one["granted_by"]["email"]) for one in shares] == [(grant["id"], "user@example.org")]
    assert await sees(stranger, session)
    await sql(api.database, "UPDATE session_shares SET expires_at = now() - interval '1 s'")
    assert not await sees(stranger, session)
    assert await listed(stranger, "shared") == []
    assert (await user.get("/sessions/desk/shares")).json()["items"] == []
    # Sharing again replaces it.
    again = await shared(user, session, user="stranger@example.org", level="use")
    assert (again["id"], again["level"], again["expires_at"]) == (grant["id"], "use", None)
    assert await sees(stranger, session)
    for status in (204, 404):
        gone = await user.delete("/sessions/desk/shares/STRANGER@example.org")
        assert gone.status_code == status
    assert not await sees(stranger, session)
    trail = (await user.get("/audit?action=session.share")).json()["items"]
    assert [
        (one["details"]["with"], one["details"]["after"] is None) for one in trail if "with" in one["details"]
    ] == [
        ("stranger@example.org", True),
        ("stranger@example.org", False),
        ("stranger@example.org", False),
    ]


async def test_a_link_gives_access_to_those_who_open_it_until_it_is_revoked(api: Api):
    user, stranger, colleague = [await api.as_(name) for name in ("user", "stranger", "colleague")]
    session = (await user.start(name="desk"))["id"]
    link = await shared(user, session, link=True, level="use", expires_in_s=600)
    page, _, token = link["url"].partition("#token=")
    assert page.endswith("/shared")
    assert not await sees(stranger, session)
    stored = await sql(api.database, "SELECT token_hash::text FROM session_shares")
    assert token not in str(stored)
    for _ in range(2):
        joined = (await stranger.post("/session-links", {"token": token})).json()
        assert (joined["id"], joined["level"], joined["expires_at"]) == (session, "use", link["expires_at"])
    assert (await user.post("/session-links", {"token": token})).json()["level"] is None
    assert await sees(stranger, session)
    assert not await sees(colleague, session)
    shares = (await user.get("/sessions/desk/shares")).json()["items"]
    assert [(one["user"] and one["user"]["email"], one["via_link"]) for one in shares] == [
        (None, None),
        ("stranger@example.org", link["id"]),
    ]
    assert token not in (await user.get("/sessions/desk/shares")).text
    trail = (await user.get("/audit?action=session.join")).json()["items"]
    assert [one["actor"]["email"] for one in trail] == ["stranger@example.org"]
    assert (await user.delete(f"/sessions/desk/shares/{link['id']}")).status_code == 204
    assert not await sees(stranger, session)
    refused = await stranger.post("/session-links", {"token": token})
    assert status_and_code(refused) == (404, "share.no_link")


async def test_a_recipient_leaves_a_share_and_a_link(api: Api):
    user, stranger, colleague = [await api.as_(name) for name in ("user", "stranger", "colleague")]
    session = (await user.start(name="desk"))["id"]
    path = f"/sessions/{session}/leave"
    assert status_and_code(await stranger.post(path)) == (404, "session.not_found")
    assert status_and_code(await user.post(path)) == (409, "share.not_personal")
    grant = await shared(user, session, user="stranger@example.org")
    link = await shared(user, session, link=True, level="use", expires_in_s=600)
    token = link["url"].partition("#token=")[2]
    for one in (stranger, colleague):
        await one.post("/session-links", {"token": token})
    assert (await colleague.get(path.removesuffix("/leave"))).json()["may_leave"]
    async with following(user) as stream:
        answer = await stranger.post(path)
        assert answer.json() == {"id": session, "name": "desk", "shared_as": None}
        event = await stream.until("session.unshared")
        assert event.data["object"] == {"kind": "session", "id": session}
    assert not await sees(stranger, session)
    assert await sees(colleague, session)
    shares = (await user.get("/sessions/desk/shares")).json()["items"]
    assert [one["user"] and one["user"]["email"] for one in shares] == [None, "colleague@example.org"]
    trail = (await user.get("/audit?action=session.leave")).json()["items"]
    left = [(one["actor"]["email"], one["details"]["share"]) for one in trail if "share" in one["details"]]
    assert len(left) == 2
    assert ("stranger@example.org", grant["id"]) in left


async def test_shares_with_a_project_are_not_left_by_a_member(api: Api):
    user, stranger, admin = await api.as_("user"), await api.as_("stranger"), await api.as_("superadmin")
    await admin.post(f"/projects/{api.people.other_project}/members", {"users": ["user@example.org"]})
    session = (await user.start(project=api.people.project))["id"]
    assert not (await user.get(f"/sessions/{session}")).json()["may_leave"]
    await shared(user, session, project="other")
    assert not (await stranger.get(f"/sessions/{session}")).json()["may_leave"]
    refused = await stranger.post(f"/sessions/{session}/leave")
    assert status_and_code(refused) == (409, "share.not_personal")
    await shared(user, session, user="stranger@example.org", level="use")
    assert (await stranger.get(f"/sessions/{session}")).json()["may_leave"]
    assert (await stranger.post(f"/sessions/{session}/leave")).json()["shared_as"] == "look"
    assert await sees(stranger, session)


async def test_recipients_are_notified_once_where_they_have_chosen(api: Api):
    user, stranger, admin = await api.as_("user"), await api.as_("stranger"), await api.as_("superadmin")
    walk = Walk(api)
    async with mail_server(api) as mail, receiver() as target:
        await set_site(api, webhook_private_addresses=True)
        await admin.post(f"/projects/{api.people.other_project}/members", {"users": ["user@example.org"]})
        for who in (user, stranger):
            await who.patch("/notifications", {"shared": ["mail", "webhook"]})
        hook = await add(stranger, target)
        session = (await user.start(name="desk", project=api.people.project))["id"]
        async with following(stranger) as stream:
            for level in ("look", "use"):
                await shared(user, session, user="stranger@example.org", level=level)
            data = [(await stream.until("session.shared")).data["data"] for _ in range(2)]
        # A change of the level is no news.
        assert [one["by"] for one in data] == ["user@example.org", None]
        assert data[0]["user"] == api.people.stranger.user_id
        await shared(user, session, project="other")
        link = await shared(user, session, link=True, expires_in_s=600)
        await stranger.post("/session-links", {"token": link["url"].partition("#token=")[2]})
        # The request only writes notices, however many members the project has.
        assert await sql(api.database, "SELECT 1 FROM outbox") == []
        assert await sql(api.database, "SELECT 1 FROM webhook_deliveries") == []
        while await walk.fan_out():
            pass
        await outbox.send_due(api.database.transaction, walk.seal, datetime.now(UTC) + timedelta(seconds=1))
        letter, text = await mail.newest(2)
        assert (letter["To"], letter["Subject"]) == (
            "stranger@example.org",
            "user@example.org shares a session with you",
        )
        assert f"/sessions?state=all&session={session}" in text
        await walk.deliver()
    messages = (await stranger.get(f"/webhooks/{hook['id']}/deliveries")).json()["items"]
    assert [one["type"] for one in messages] == ["session.shared"] * 2
    paths = [f"/webhooks/{hook['id']}/deliveries/{one['id']}" for one in messages]
    bodies = "".join([(await stranger.get(path)).json()["body"] for path in paths])
    for recipient in ("stranger@example.org", "other"):
        assert f"user@example.org shared it with {recipient} to look at." in bodies


async def test_links_of_other_domains_and_expired_ones_do_not_work(api: Api):
    user, foreigner, stranger = [await api.as_(name) for name in ("user", "foreigner", "stranger")]
    session = (await user.start())["id"]
    link = await shared(user, session, link=True, expires_in_s=600)
    token = link["url"].partition("#token=")[2]
    wrong = await foreigner.post("/session-links", {"token": "wrong"})
    for who, given in ((foreigner, token), (stranger, token)):
        if who is stranger:
            await sql(api.database, "UPDATE session_shares SET expires_at = now()")
        refused = await who.post("/session-links", {"token": given})
        assert status_and_code(refused) == (404, "share.no_link")
        assert refused.json()["detail"] == wrong.json()["detail"]
        assert not await sees(who, session)


async def test_with_whom_a_session_cannot_be_shared(api: Api):
    user, admin = await api.as_("user"), await api.as_("superadmin")
    session = (await user.start())["id"]
    far = next(iter(api.people.foreigner.projects))
    cases: list[tuple[Caller, dict[str, object], tuple[int, str]]] = [
        (user, {}, (422, "share.recipient")),
        (user, {"user": "stranger@example.org", "link": True}, (422, "share.recipient")),
        (user, {"user": "nobody@example.org"}, (404, "share.no_such_person")),
        (user, {"user": "foreigner@example.org"}, (404, "share.no_such_person")),
        (user, {"user": "user@example.org"}, (409, "share.own")),
        (user, {"project": "other"}, (404, "project.not_found")),
        (user, {"project": far}, (404, "project.not_found")),
        (admin, {"project": far}, (409, "share.other_domain")),
        (user, {"link": True}, (422, "share.expiry")),
        (user, {"link": True, "expires_in_s": 31 * 86_400}, (422, "share.expiry")),
    ]
    for who, terms, expected in cases:
        refused = await who.post(f"/sessions/{session}/shares", terms)
        assert status_and_code(refused) == expected, terms
    assert (await user.get(f"/sessions/{session}/shares")).json()["items"] == []


async def test_administrators_see_revoke_and_share_only_what_they_may_do_themselves(api: Api):
    user, stranger = await api.as_("user"), await api.as_("stranger")
    session = (await user.start())["id"]
    for admin in (await project_admin(api), await domain_admin(api), await api.as_("superadmin")):
        refused = await admin.post(
            f"/sessions/{session}/shares", {"user": "stranger@example.org", "level": "use"}
        )
        assert status_and_code(refused) == (403, "share.level"), admin.name
        await shared(admin, session, user="stranger@example.org")
        assert await sees(stranger, session)
        assert len((await admin.get(f"/sessions/{session}/shares")).json()["items"]) == 1
        gone = await admin.delete(f"/sessions/{session}/shares/stranger@example.org")
        assert gone.status_code == 204
        assert not await sees(stranger, session)
    other_lead = await officer(api, "elsewhere", project=api.people.other_project, admin=True)
    for who in (stranger, other_lead, await api.as_("foreigner")):
        refused = await who.post(f"/sessions/{session}/shares", {"user": "stranger@example.org"})
        assert status_and_code(refused) == (404, "session.not_found"), who.name


async def test_a_share_of_a_session_of_an_array_is_for_the_whole_array(api: Api):
    user, stranger = await api.as_("user"), await api.as_("stranger")
    first = await user.start(
        kind="batch", command=["true"], name="sweep", array={"first": 1, "last": 3, "max_parallel": 1}
    )
    members = (await user.get(f"/sessions?array={first['id']}")).json()["items"]
    await shared(user, members[1]["id"], user="stranger@example.org")
    rows = (await stranger.get("/sessions?owner=shared")).json()["items"]
    assert [(row["id"], row["array"]["name"], row["shared_as"]) for row in rows] == [
        (first["id"], "sweep", "look")
    ]
    seen = (await stranger.get(f"/sessions?owner=shared&array={first['id']}")).json()["items"]
    assert [row["id"] for row in seen] == [one["id"] for one in members]


async def test_a_scoped_token_does_with_shared_sessions_only_what_its_scopes_allow(api: Api):
    user, stranger = await api.as_("user"), await api.as_("stranger")
    session = (await user.start())["id"]
    await shared(user, session, user="stranger@example.org", level="use")
    for scopes, expected in ((["session.read"], (200, "")), (["vfolder.*"], (403, "policy.scope"))):
        token = (await stranger.post("/tokens", {"name": "t", "scopes": scopes})).json()["token"]
        client = await api.client(headers={"Authorization": f"Bearer {token}"})
        answer = await Caller("script", None, client).get(f"/sessions/{session}")
        assert (answer.status_code, answer.json().get("code", "")) == expected
        opened = await Caller("script", None, client).post(f"/sessions/{session}/apps/web/open")
        assert status_and_code(opened) == (403, "policy.scope")


async def test_events_of_a_session_reach_those_with_whom_it_is_shared(api: Api):
    user, stranger = await api.as_("user"), await api.as_("stranger")
    shared_one, other = [(await user.start(name=name))["id"] for name in ("desk", "other")]
    link = await shared(user, other, link=True, expires_in_s=600)
    await shared(user, shared_one, user="stranger@example.org")
    async with following(stranger) as events:
        for session in (other, shared_one):
            await user.patch(f"/sessions/{session}", {"name": f"new-{session}"})
        renamed = await events.until("session.updated")
        assert renamed.data["data"]["name"] == f"new-{shared_one}"
        await stranger.post("/session-links", {"token": link["url"].partition("#token=")[2]})
        assert (await events.until("session.shared")).data["object"]["id"] == other
        await user.delete(f"/sessions/{shared_one}/shares/stranger@example.org")
        assert (await events.until("session.unshared")).data["object"]["id"] == shared_one
        for session in (shared_one, other):
            await user.patch(f"/sessions/{session}", {"name": f"newer-{session}"})
        assert (await events.until("session.updated")).data["data"]["name"] == f"newer-{other}"
