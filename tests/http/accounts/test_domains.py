"""Domains through the API: who may, what is refused, and what a disabled one does."""

import asyncio

from databases import scalar, sql
from installation import Api, Caller
from people import waiting_for_locks
from people_kit import domain_admin, officer, status_and_code
from session_kit import SMALL
from sqlalchemy import text

from carrel.engines.references import LOCAL
from carrel.images import service as images
from carrel.permissions.actions import Role


async def test_a_domain_lives_and_goes(api: Api):
    admin = await api.as_("superadmin")
    made = await admin.post(
        "/domains", {"name": "Lab", "ceilings": {"cpu": 4000}, "registries": ["docker.io"]}
    )
    assert made.status_code == 201, made.text
    domain = made.json()
    assert (domain["users"], domain["projects"], domain["live_sessions"], domain["admins"]) == (0, 0, 0, [])
    assert (domain["ceilings"], domain["registries"], domain["storage_hosts"]) == (
        {"cpu": 4000},
        ["docker.io"],
        None,
    )
    changed = await admin.patch(
        "/domains/lab", {"description": "Physics", "registries": None, "ceilings": {}}
    )
    assert changed.status_code == 200, changed.text
    assert (changed.json()["description"], changed.json()["registries"]) == ("Physics", None)
    assert (changed.json()["ceilings"], changed.json()["name"]) == ({}, "Lab")
    assert (await admin.delete(f"/domains/{domain['id']}")).status_code == 204
    assert (await admin.get("/domains/lab")).status_code == 404
    written = await sql(
        api.database,
        "SELECT action, object_name, details FROM audit WHERE object_kind = 'domain' ORDER BY id",
    )
    assert [(row[0], row[1]) for row in written] == [
        ("domain.create", "Lab"),
        ("domain.update", "Lab"),
        ("domain.remove", "Lab"),
    ]
    assert written[1][2] == {
        "before": {"description": "", "ceilings": {"cpu": 4000}, "registries": ["docker.io"]},
        "after": {"description": "Physics", "ceilings": {}, "registries": None},
    }


async def test_a_domain_names_resource_groups_and_storage_hosts_that_there_are(api: Api):
    admin = await api.as_("superadmin")
    await admin.post("/groups", {"name": "GPU"})
    for field, code, listing in (
        ("resource_groups", "group.not_found", "carrel group ls"),
        ("storage_hosts", "storage_host.not_found", "carrel storage-host ls"),
    ):
        misspelt = {field: ["nonesuch"]}
        for refused in (
            await admin.post("/domains", {"name": "Lab", **misspelt}),
            await admin.patch("/domains/default", misspelt),
        ):
            assert (status_and_code(refused), refused.json()["field"]) == ((404, code), field)
            assert "nonesuch" in refused.json()["detail"]
            assert listing in refused.json()["hint"]
    named = {"resource_groups": ["gpu", "default"], "storage_hosts": ["local"]}
    made = await admin.post("/domains", {"name": "Lab", **named})
    assert made.status_code == 201, made.text
    assert made.json()["resource_groups"] == ["GPU", "default"], "spelt as it is there"
    emptied = await admin.patch("/domains/lab", {"resource_groups": [], "storage_hosts": None})
    assert (emptied.json()["resource_groups"], emptied.json()["storage_hosts"]) == ([], None)


async def test_a_name_of_what_is_gone_may_be_sent_back(api: Api):
    admin = await api.as_("superadmin")
    await admin.post("/groups", {"name": "old"})
    await admin.patch("/domains/default", {"resource_groups": ["old"]})
    assert (await admin.delete("/groups/old")).status_code == 204
    changed = await admin.patch("/domains/default", {"resource_groups": ["default", "old"]})
    assert changed.status_code == 200, changed.text
    assert changed.json()["resource_groups"] == ["default", "old"]


async def test_rows_count_what_a_domain_holds_and_name_its_administrators(api: Api):
    head = await domain_admin(api)
    await (await api.as_("user")).start()
    admin = await api.as_("superadmin")
    rows = (await admin.get("/domains")).json()["items"]
    assert [row["name"] for row in rows] == ["abroad", "default"]
    home = rows[1]
    assert (home["users"], home["projects"], home["live_sessions"]) == (5, 2, 1)
    assert home["admins"] == [{"id": head.actor.user_id, "email": "head@example.org"}]
    assert (rows[0]["users"], rows[0]["projects"], rows[0]["live_sessions"]) == (1, 1, 0)
    assert [row["name"] for row in (await admin.get("/domains", params={"q": "ABR"})).json()["items"]] == [
        "abroad"
    ]
    first = (await admin.get("/domains", params={"sort": "-name", "limit": 1})).json()
    assert [row["name"] for row in first["items"]] == ["default"]
    second = (
        await admin.get("/domains", params={"sort": "-name", "limit": 1, "cursor": first["next_cursor"]})
    ).json()
    assert ([row["name"] for row in second["items"]], second["next_cursor"]) == (["abroad"], None)


async def test_who_may_see_and_change_domains(api: Api):
    user, head = await api.as_("user"), await domain_admin(api)
    for method, path, body in (
        ("GET", "/domains", None),
        ("GET", "/domains/default", None),
        ("POST", "/domains", {"name": "x"}),
        ("PATCH", "/domains/default", {"name": "x"}),
        ("DELETE", "/domains/default", None),
    ):
        assert status_and_code(await user.ask(method, path, json=body)) == (403, "policy.forbidden"), (
            method,
            path,
        )
        expected = 200 if method == "GET" else 403
        assert (await head.ask(method, path, json=body)).status_code == expected, (method, path)
    assert [row["name"] for row in (await head.get("/domains")).json()["items"]] == ["default"]
    # Another tenant's domain is not there, word for word as one that does not exist.
    other, none = await head.get("/domains/abroad"), await head.get("/domains/nonesuch")
    assert status_and_code(other) == status_and_code(none) == (404, "domain.not_found")
    assert other.json()["detail"].replace("abroad", "X") == none.json()["detail"].replace("nonesuch", "X")
    assert status_and_code(await head.patch("/domains/abroad", {"name": "x"})) == (403, "policy.forbidden")


async def test_a_name_is_unique_in_any_case_and_however_many_ask_at_once(api: Api):
    admin = await api.as_("superadmin")
    answers = await asyncio.gather(*(admin.post("/domains", {"name": n}) for n in ("Lab", "lab", "LAB")))
    assert sorted(a.status_code for a in answers) == [201, 409, 409]
    refused = next(a for a in answers if a.status_code == 409)
    assert (refused.json()["code"], refused.json()["field"]) == ("domain.name_taken", "name")
    assert status_and_code(await admin.patch("/domains/lab", {"name": "Abroad"})) == (
        409,
        "domain.name_taken",
    )


async def test_what_makes_no_sense_is_refused_in_words(api: Api):
    admin = await api.as_("superadmin")
    for body in (
        {"name": ""},
        {"name": "a\nb"},
        {"name": None},
        {"name": "ok", "ceilings": {"cpu": -1}},
        {"name": "ok", "ceilings": {"No Slot": 1}},
        {"name": "ok", "ceilings": {"cup": 1}},
        {"name": "ok", "extra": 1},
        {"name": "x" * 65},
    ):
        assert (await admin.post("/domains", body)).status_code == 422, body
    assert (
        await admin.patch("/domains/abroad", {"ceilings": {"sessions": 1, "a.shares": 1}})
    ).status_code == 200
    assert (await admin.patch("/domains/abroad", {"active": None})).status_code == 422
    assert status_and_code(await admin.get("/domains", params={"sort": "colour"})) == (422, "invalid.sort")


async def test_a_domain_that_holds_something_stays(api: Api):
    admin = await api.as_("superadmin")
    refused = await admin.delete("/domains/abroad")
    assert (status_and_code(refused), refused.json()["details"]) == (
        (409, "domain.not_empty"),
        {"holds": "users"},
    )


async def test_a_domain_whose_only_users_were_purged_can_be_removed(api: Api):
    admin = await api.as_("superadmin")
    assert (await admin.post("/domains", {"name": "closing"})).status_code == 201
    email = "last@example.org"
    made = await admin.post("/users", {"email": email, "name": "Last", "domain": "closing"})
    assert made.status_code == 201, made.text
    user = made.json()["user"]["id"] if "user" in made.json() else made.json()["id"]
    assert status_and_code(await admin.delete("/domains/closing")) == (409, "domain.not_empty")
    assert (await admin.patch(f"/users/{user}", {"state": "inactive"})).status_code == 200
    assert status_and_code(await admin.delete("/domains/closing")) == (409, "domain.not_empty")
    purged = await admin.post(f"/users/{user}/purge", {"confirm": email})
    assert purged.status_code == 200, purged.text
    assert (await admin.delete("/domains/closing")).status_code == 204
    assert (await admin.get("/domains/closing")).status_code == 404


async def test_a_domain_whose_people_had_sessions_goes_once_they_are_purged_and_its_past_keeps_its_name(
    api: Api,
):
    admin, foreigner = await api.as_("superadmin"), await api.as_("foreigner")
    domain = (await admin.get("/domains/abroad")).json()["id"]
    project = (await admin.get("/projects", params={"domain": "abroad"})).json()["items"][0]["id"]
    session = (await foreigner.start())["id"]
    email = "foreigner@example.org"
    held = []
    for method, path, body in (
        ("PATCH", f"/users/{email}", {"state": "inactive", "sessions": "end"}),
        ("POST", f"/users/{email}/purge", {"confirm": email, "sessions": "end"}),
        ("POST", f"/projects/{project}/archive", {}),
    ):
        refused = await admin.delete("/domains/abroad")
        assert status_and_code(refused) == (409, "domain.not_empty")
        held.append(refused.json()["details"]["holds"])
        done = await admin.ask(method, path, json=body)
        assert done.status_code == 200, done.text
    assert held == ["users", "users", "projects"]
    assert (await admin.delete("/domains/abroad")).status_code == 204
    # It is gone from every list, and so are its projects; its name is free.
    assert status_and_code(await admin.get(f"/domains/{domain}")) == (404, "domain.not_found")
    assert "abroad" not in {one["name"] for one in (await admin.get("/domains")).json()["items"]}
    assert status_and_code(await admin.post(f"/projects/{project}/restore")) == (404, "project.not_found")
    assert project not in {one["id"] for one in (await admin.get("/projects")).json()["items"]}
    assert (await admin.post("/domains", {"name": "Abroad"})).status_code == 201
    # Its past is not.
    assert (await admin.get(f"/sessions/{session}")).json()["state"] == "CANCELLED"
    removed = (await admin.get("/audit", params={"action": "domain.remove"})).json()["items"][0]
    assert (removed["object"]["id"], removed["object"]["name"]) == (domain, "abroad")
    purged = (await admin.get("/users", params={"state": "purged", "domain": domain})).json()["items"]
    assert [one["domain"] for one in purged] == [{"id": domain, "name": "abroad"}]


async def test_nobody_moves_into_a_domain_while_it_is_removed(api: Api):
    admin = await api.as_("superadmin")
    domain = (await admin.post("/domains", {"name": "closing"})).json()["id"]
    async with api.database.transaction() as tx:
        await tx.execute(text("SELECT FROM domains WHERE id = :id FOR UPDATE"), {"id": domain})
        requests = [
            asyncio.create_task(admin.ask(method, path, json=body))
            for method, path, body in (
                ("POST", "/users", {"email": "late@example.org", "name": "Late", "domain": "closing"}),
                ("PATCH", "/users/colleague@example.org", {"domain": "closing"}),
                ("POST", "/projects", {"name": "late", "domain": "closing"}),
            )
        ]
        await waiting_for_locks(api.database, len(requests))
        await tx.execute(text("UPDATE domains SET removed_at = now() WHERE id = :id"), {"id": domain})
    assert [status_and_code(answer) for answer in await asyncio.gather(*requests)] == [
        (404, "domain.not_found")
    ] * len(requests)


async def test_a_disabled_domain_ends_sign_ins_and_takes_no_sessions(api: Api):
    browser, keypair = await api.browser("foreigner"), await api.as_("foreigner")
    running = await keypair.start()
    admin = await api.as_("superadmin")
    assert (await admin.patch("/domains/abroad", {"active": False})).status_code == 200
    for who in (browser, keypair):
        assert (await who.get("/auth/me")).status_code == 401
        assert (await who.try_start()).status_code == 401
    assert (await admin.get(f"/sessions/{running['id']}")).json()["state"] == "PENDING"
    assert (await admin.patch("/domains/abroad", {"active": True})).status_code == 200
    assert (await browser.get("/auth/me")).status_code == 401, "its sign-in ended, and stays so"
    assert (await keypair.get("/auth/me")).status_code == 200


async def test_apps_that_were_opened_with_a_keypair_end_with_the_domain_and_with_their_user(api: Api):
    admin, foreigner, user = [await api.as_(name) for name in ("superadmin", "foreigner", "user")]
    async with api.database.transaction() as tx:
        for who in (foreigner, user):
            await tx.execute(
                text("""INSERT INTO app_grants (token_hash, ticket, session_id, app, user_id, credential, expires_at)
                    VALUES (decode(md5(:u), 'hex'), false, 's', 'a', :u, 'keypair:x', now() + interval '1 h')"""),
                {"u": who.actor.user_id},  # type: ignore[union-attr]
            )
    await admin.patch("/domains/abroad", {"active": False})
    async with api.database.transaction() as tx:
        left = await tx.execute(text("SELECT user_id FROM app_grants"))
        assert left.scalars().all() == [api.people.user.user_id]
    await admin.patch("/users/user@example.org", {"state": "inactive"})
    assert await scalar(api.database, "SELECT count(*) FROM app_grants") == 0


async def test_the_domain_of_the_last_superadmin_stays_enabled(api: Api):
    admin = await api.as_("superadmin")
    assert status_and_code(await admin.patch("/domains/default", {"active": False})) == (
        409,
        "domain.holds_last_superadmin",
    )
    abroad = (await admin.get("/domains/abroad")).json()["id"]
    other = await officer(api, "second", Role.SUPERADMIN, domain=abroad)
    # Two superadmins shut each other out at the same time: one is too late.
    answers = await asyncio.gather(
        admin.patch("/domains/abroad", {"active": False}), other.patch("/domains/default", {"active": False})
    )
    assert sorted(a.status_code for a in answers) in ([200, 401], [200, 409])
    left = await scalar(
        api.database,
        """SELECT count(*) FROM users u JOIN domains d ON d.id = u.domain_id
            WHERE u.role = 'superadmin' AND u.state = 'active' AND d.active""",
    )
    assert left == 1


async def test_a_domain_with_registries_starts_sessions_from_no_others(api: Api):
    admin, user = await api.as_("superadmin"), await api.as_("user")
    await _catalogue(api, starter=f"{LOCAL}/carrel/starter:1")
    hub, other = "debian:12", "registry.example.org:5000/team/torch:2"
    await user.start(name="before", image=other)
    limited = await admin.patch("/domains/default", {"registries": ["Docker.io"]})
    assert limited.json()["registries"] == ["docker.io"], "spelt as hosts are"
    for image in (hub, "index.docker.io/library/debian:12", "localhost/carrel/made-here:1", "starter"):
        await user.start(image=image)
    body = {"image": other, "slots": SMALL}
    refused = await user.try_start(**body)
    assert status_and_code(refused) == (403, "image.registry_not_allowed"), refused.text
    assert refused.json()["field"] == "image"
    assert "registry.example.org:5000" in refused.json()["detail"]
    assert "docker.io" in refused.json()["hint"]
    foreseen = (await user.post("/sessions/check", body)).json()
    assert foreseen["code"] == "image.registry_not_allowed", foreseen
    assert status_and_code(await admin.try_start(**body)) == (403, "image.registry_not_allowed"), (
        "nobody is exempt"
    )
    await admin.patch("/domains/default", {"registries": []})
    assert status_and_code(await user.try_start(image=hub)) == (
        403,
        "image.registry_not_allowed",
    )
    await user.start(image="starter", name="built-here")
    await admin.patch("/domains/default", {"registries": ["docker.io", "registry.example.org:5000"]})
    await user.start(image=other)


async def test_images_of_other_registries_are_not_listed(api: Api):
    admin, user = await api.as_("superadmin"), await api.as_("user")
    await _catalogue(
        api,
        starter=f"{LOCAL}/carrel/starter:1",
        torch="registry.example.org/team/torch:2",
        bookworm="debian:12",
    )
    await admin.patch("/domains/default", {"registries": ["registry.example.org"]})

    async def listed(caller: Caller) -> list[str]:
        return [image["name"] for image in (await caller.get("/images")).json()["items"]]

    assert await listed(user) == ["starter", "torch"]
    assert await listed(admin) == ["bookworm", "starter", "torch"]


async def test_a_registry_is_a_host(api: Api):
    admin = await api.as_("superadmin")
    for wrong in ("https://docker.io", "ghcr.io/team", "a b", "host:", "", "-x"):
        refused = await admin.patch("/domains/default", {"registries": [wrong]})
        assert refused.status_code == 422, (wrong, refused.text)


async def _catalogue(api: Api, **references: str) -> None:
    async with api.database.transaction() as tx:
        for name, reference in references.items():
            await images.register(
                tx,
                name=name,
                reference=reference,
                title=name,
                description="",
                size_bytes=None,
                architecture=None,
                apps=[],
                min_slots=images.DEFAULT_MIN_SLOTS,
            )
