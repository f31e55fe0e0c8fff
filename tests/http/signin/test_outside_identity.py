"""An identity provider of a kind that another distribution brings, from its settings to who signs in by it."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import acme_distribution
import pytest
from installation import API, Api

from carrel import plugins
from carrel.signin.providers import sign_on

PHRASE = "open sesame 4711"
SETTINGS = {"address": "list.acme.example", "people": ["grace"], "phrase": PHRASE}
ROSTER = {"name": "acme", "kind": "roster", "domain": "default", "settings": SETTINGS}


@pytest.fixture
def uninstall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """The distribution is installed, until this is called."""
    monkeypatch.setattr(sign_on, "LEAST_S", 0.01)
    site = tmp_path / "site"
    acme_distribution.write(site, "acme", plugins.Port.IDENTITY, roster="ROSTER")
    monkeypatch.syspath_prepend(site)
    plugins.find.cache_clear()

    def gone() -> None:
        sys.path.remove(str(site))
        sys.modules.pop("acme", None)
        plugins.find.cache_clear()

    yield gone
    sys.modules.pop("acme", None)
    plugins.find.cache_clear()


async def sign_in(api: Api, login: str, password: str) -> tuple[int, str]:
    client = await api.client()
    answer = await client.post(f"{API}/auth/login", json={"email": login, "password": password})
    body = answer.json()
    return answer.status_code, body["user"]["email"] if answer.status_code == 200 else body["code"]


async def test_its_kind_is_listed_set_up_tried_out_and_lets_people_in(
    api: Api, uninstall: Callable[[], None]
) -> None:
    admin = await api.as_("superadmin")
    listed = {kind["kind"]: kind for kind in (await admin.get("/provider-kinds")).json()["items"]}
    assert list(listed) == ["ldap", "oidc", "roster"]
    kind = listed["roster"]
    assert (kind["title"], kind["redirects"]) == ("ACME roster", False)
    assert kind["description"] == "People on a list, who share a pass phrase."
    assert list(kind["settings"]["properties"])[:4] == ["address", "people", "phrase", "label"]
    assert kind["settings"]["properties"]["phrase"]["writeOnly"]

    mapping = [{"group": "STAFF", "project": "default", "admin": True}]
    answer = await admin.post("/providers", {**ROSTER, "mapping": mapping})
    assert answer.status_code == 201, answer.text
    made = answer.json()
    assert (made["server"], made["secrets"], made["redirect_uri"]) == ("list.acme.example", ["phrase"], None)
    assert PHRASE not in answer.text
    assert (await admin.post("/providers/acme/test")).json() == {
        "ok": True,
        "steps": [{"name": "list", "ok": True, "sentence": "1 people are on the list."}],
    }

    assert await sign_in(api, "grace", PHRASE) == (200, "grace@acme.example")
    assert await sign_in(api, "grace", "wrong") == (401, "auth.bad_credentials")
    assert await sign_in(api, "alan", PHRASE) == (401, "auth.bad_credentials")
    shown = (await admin.get("/users/grace@acme.example")).json()
    assert shown["providers"] == ["acme"]
    members = (await admin.get(f"/projects/{api.people.project}/members")).json()["items"]
    assert ("grace@acme.example", True) in {(one["email"], one["admin"]) for one in members}


async def test_while_it_is_not_installed_it_lets_nobody_in_and_can_be_removed(
    api: Api, uninstall: Callable[[], None]
) -> None:
    admin = await api.as_("superadmin")
    assert (await admin.post("/providers", ROSTER)).status_code == 201
    uninstall()
    assert await sign_in(api, "grace", PHRASE) == (401, "auth.bad_credentials")
    [shown] = (await admin.get("/providers")).json()["items"]
    assert (shown["kind"], shown["server"]) == ("roster", "list.acme.example")
    changed = await admin.patch("/providers/acme", {"settings": {"people": []}})
    assert (changed.status_code, changed.json()["code"]) == (503, "plugin.unusable")
    assert (await admin.post("/providers", {**ROSTER, "name": "other"})).json()[
        "code"
    ] == "plugin.kind_unknown"
    assert (await admin.delete("/providers/acme")).status_code == 204
