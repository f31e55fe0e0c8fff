"""Setting identity providers up: who may, what is checked, and that secrets stay secret."""

from typing import Any

import pytest
from installation import Api
from sqlalchemy import text

OIDC = {"issuer": "https://login.example.org", "client_id": "carrel"}
LDAP = {"host": "ldap.example.org", "user_base": "ou=people,dc=example,dc=org"}
SECRET = "open sesame 4711"
WITH_SECRET = {**OIDC, "client_secret": SECRET}
CORP = {"name": "corp", "kind": "oidc", "domain": "default", "settings": WITH_SECRET}


async def make(api: Api, **changes: object) -> dict[str, Any]:
    answer = await (await api.as_("superadmin")).post("/providers", {**CORP, **changes})
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


async def test_a_provider_is_made_shown_changed_and_removed(api: Api):
    admin = await api.as_("superadmin")
    made = await make(api, mapping=[{"group": "staff", "project": "default", "admin": True}])
    assert (made["kind"], made["active"], made["people"]) == ("oidc", True, 0)
    assert (made["settings"], made["secrets"], made["server"]) == (OIDC, ["client_secret"], OIDC["issuer"])
    assert made["redirect_uri"].endswith("/api/v1/auth/providers/corp/callback")
    assert made["mapping"] == [
        {
            "group": "staff",
            "project": {"id": api.people.project, "name": "default"},
            "admin": True,
            "role": None,
        }
    ]
    assert (await admin.get(f"/providers/{made['id']}")).json() == made
    assert (await admin.get("/providers")).json()["items"] == [made]
    changed = (
        await admin.patch(
            "/providers/corp", {"active": False, "settings": {"client_secret": None, "label": "Ours"}}
        )
    ).json()
    assert changed == {**made, "active": False, "secrets": [], "settings": {**OIDC, "label": "Ours"}}
    usual = (await admin.patch("/providers/corp", {"settings": {"label": None}})).json()
    assert usual["settings"] == OIDC
    assert (await admin.delete("/providers/corp")).status_code == 204
    assert (await admin.get("/providers/corp")).json()["code"] == "provider.not_found"


async def test_a_secret_is_never_shown_and_lies_sealed(api: Api):
    admin = await api.as_("superadmin")
    texts = [str(await make(api))]
    texts.append((await admin.patch("/providers/corp", {"settings": {"client_secret": SECRET + "!"}})).text)
    texts.append((await admin.get("/providers")).text)
    texts.append((await admin.get("/audit")).text)
    assert "provider.update" in texts[-1]
    async with api.database.transaction() as tx:
        row = (await tx.execute(text("SELECT id, secrets, providers::text FROM providers"))).one()
        sealed = bytes.fromhex(row.secrets["client_secret"])
        texts += [row[2], sealed.decode("latin-1")]
    assert not [shown for shown in texts if SECRET in shown]
    assert api.services.seal.open(sealed, f"provider:{row.id}").decode() == SECRET + "!"


async def test_the_audit_trail_says_what_changed(api: Api):
    admin = await api.as_("superadmin")
    await make(api)
    await admin.patch("/providers/corp", {"active": False, "settings": {"client_secret": "another"}})
    await admin.patch("/providers/corp", {"active": False})
    await admin.delete("/providers/corp")
    noted = (await admin.get("/audit", params={"action": "provider.update"})).json()["items"]
    details = [entry["details"] for entry in reversed(noted)]
    assert [each["what"] for each in details] == ["created", "changed", "removed"]
    assert details[1]["before"] == {"active": True}
    assert details[1]["after"] == {"active": False, "secrets": {"client_secret": "changed"}}


@pytest.mark.parametrize("who", ["anonymous", "user", "foreigner"])
async def test_others_than_superadmins_get_nowhere(api: Api, who: str):
    await make(api)
    caller = await api.as_(who)
    for method, path in (
        ("GET", ""),
        ("POST", ""),
        ("GET", "/corp"),
        ("PATCH", "/corp"),
        ("DELETE", "/corp"),
        ("POST", "/corp/test"),
        ("GET", "/nonesuch"),
    ):
        answer = await caller.ask(method, f"/providers{path}", json=CORP if method == "POST" else None)
        assert answer.status_code == (401 if who == "anonymous" else 403), (method, path, answer.text)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"name": "Corp"}, "invalid.request"),
        ({"name": "a/b"}, "invalid.request"),
        ({"domain": "nowhere"}, "domain.not_found"),
        ({"kind": "nonesuch"}, "plugin.kind_unknown"),
        ({"settings": LDAP}, "plugin.setting_invalid"),
        ({"settings": {**OIDC, "issuer": "login.example.org"}}, "plugin.setting_invalid"),
        ({"settings": {**OIDC, "surprise": 1}}, "plugin.setting_invalid"),
        ({"settings": {**OIDC, "ca": "no certificate"}}, "provider.bad_ca"),
        ({"mapping": [{"group": "g"}]}, "provider.rule_empty"),
        ({"mapping": [{"group": "g", "project": "nonesuch"}]}, "provider.rule_project"),
        ({"mapping": [{"group": "g", "role": "superadmin"}]}, "provider.rule_superadmin"),
    ],
)
async def test_what_cannot_work_is_refused(api: Api, changes: dict[str, Any], code: str):
    answer = await (await api.as_("superadmin")).post("/providers", {**CORP, **changes})
    assert answer.json().get("code") == code, answer.text
    assert answer.status_code in (404, 422)


async def test_a_project_of_another_domain_is_not_given(api: Api):
    async with api.database.transaction() as tx:
        statement = text(
            "SELECT projects.id FROM projects JOIN domains ON domain_id = domains.id "
            "WHERE domains.name = 'abroad'"
        )
        abroad = (await tx.execute(statement)).scalar_one()
    body = {**CORP, "mapping": [{"group": "g", "project": abroad}]}
    answer = await (await api.as_("superadmin")).post("/providers", body)
    assert answer.json()["code"] == "provider.rule_project"


async def test_a_name_is_given_once(api: Api):
    await make(api)
    answer = await (await api.as_("superadmin")).post("/providers", CORP)
    assert (answer.status_code, answer.json()["code"]) == (409, "provider.name_taken")


async def test_a_secret_is_not_sent_to_another_server_than_it_was_given_for(api: Api):
    admin = await api.as_("superadmin")
    await make(api)
    await make(api, name="office", kind="ldap", settings={**LDAP, "bind_password": SECRET})
    moves = {
        "corp": {"issuer": "https://evil.example"},
        "office": {"host": "evil"},
    }
    for (name, moved), secret in zip(moves.items(), ("client_secret", "bind_password"), strict=True):
        answer = await admin.patch(f"/providers/{name}", {"settings": moved})
        assert (answer.json()["code"], answer.json()["field"]) == (
            "provider.secret_again",
            f"settings.{secret}",
        )
        assert (await admin.get(f"/providers/{name}")).json()["server"] not in moved.values()
        again = {"settings": {**moved, secret: "another"}}
        assert (await admin.patch(f"/providers/{name}", again)).status_code == 200


async def test_kinds_say_what_a_provider_is_set_up_with(api: Api):
    kinds = {
        kind["kind"]: kind
        for kind in (await (await api.as_("superadmin")).get("/provider-kinds")).json()["items"]
    }
    assert {name: (kind["title"], kind["redirects"]) for name, kind in kinds.items()} == {
        "ldap": ("LDAP", False),
        "oidc": ("OpenID Connect", True),
    }
    schema = kinds["oidc"]["settings"]
    assert (schema["required"], next(iter(schema["properties"]))) == (["issuer", "client_id"], "issuer")
    assert schema["properties"]["client_secret"]["writeOnly"]
    assert "trusted_email_domains" in schema["properties"]
    assert (await (await api.as_("user")).get("/provider-kinds")).status_code == 403


async def test_another_domain_must_have_the_projects_of_the_rules(api: Api):
    await make(api, mapping=[{"group": "staff", "project": "other"}])
    admin = await api.as_("superadmin")
    assert (await admin.patch("/providers/corp", {"domain": "abroad"})).json()[
        "code"
    ] == "provider.rule_project"
    moved = await admin.patch("/providers/corp", {"domain": "abroad", "mapping": []})
    assert moved.json()["domain"]["name"] == "abroad"
