"""Templates over HTTP: saved, shared, changed by whom, and their secrets."""

import json
from typing import Any

import pytest
from databases import sql
from events_kit import following
from installation import Api
from people_kit import domain_admin, officer, project_admin, status_and_code
from sqlalchemy import text
from template_kit import PARAMETERS, TRAINING, saved

HIDDEN = {"TOKEN": "********", "TAG": "********"}


async def test_a_template_is_saved_shown_changed_and_deleted(api: Api):
    user = await api.as_("user")
    made = await saved(user, description="Nightly training")
    assert (made["revision"], made["shared"], made["owner"]["email"]) == (1, False, "user@example.org")
    assert made["session"] == {**TRAINING, "project": made["project"]["name"]}
    assert [one["name"] for one in made["parameters"]] == ["epochs", "tag"]
    assert (made["parameters"][0]["min"], made["parameters"][1]["default"]) == (1, "red")
    assert (made["may_start"], made["may_change"]) == (True, True)
    shown = (await user.get("/templates/training")).json()
    assert "cpu: 0.1" in shown.pop("text")
    assert shown == made
    changed = await user.patch("/templates/training", {"description": "Weekly", "revision": 1})
    assert (changed.json()["description"], changed.json()["revision"]) == ("Weekly", 2)
    assert changed.json()["session"] == made["session"]
    assert (await user.delete("/templates/training")).status_code == 204
    assert status_and_code(await user.get("/templates/training")) == (404, "template.not_found")


async def test_a_private_template_is_nobody_elses(api: Api):
    user = await api.as_("user")
    made = await saved(user)
    for other in (await api.as_("colleague"), await api.as_("foreigner"), await project_admin(api)):
        for ref in (made["id"], "training"):
            assert status_and_code(await other.get(f"/templates/{ref}")) == (404, "template.not_found")
            start = await other.post(f"/templates/{ref}/start", {})
            assert status_and_code(start) == (404, "template.not_found")
        assert (await other.get("/templates?owner=all")).json()["items"] == []
    # An operator can look after what there is, without its secrets.
    admin = await api.as_("superadmin")
    assert (await admin.get(f"/templates/{made['id']}")).json()["session"]["env"] == HIDDEN
    assert (await admin.get("/templates")).json()["items"] == []
    assert [one["id"] for one in (await admin.get("/templates?owner=all")).json()["items"]] == [made["id"]]
    assert status_and_code(await admin.post(f"/templates/{made['id']}/start", {})) == (
        403,
        "policy.forbidden",
    )


async def test_members_see_a_shared_template_and_its_owner_and_administrators_change_it(api: Api):
    user, colleague = await api.as_("user"), await api.as_("colleague")
    made = await saved(user, shared=True)
    path = f"/templates/{made['id']}"
    seen = (await colleague.get("/templates/training")).json()
    assert seen.pop("text")
    assert seen == {**made, "may_change": False}
    assert status_and_code(await colleague.patch(path, {"name": "mine"})) == (403, "policy.forbidden")
    assert status_and_code(await colleague.delete(path)) == (403, "policy.forbidden")
    lead, head = await project_admin(api), await domain_admin(api)
    assert (await lead.patch(path, {"description": "by the lead"})).status_code == 200
    assert (await head.patch(path, {"description": "by the head"})).status_code == 200
    # Not a member, hence no start and no secrets.
    seen = (await head.get(path)).json()
    assert (seen["may_start"], seen["may_change"], seen["session"]["env"]) == (False, True, HIDDEN)
    stranger, foreigner = await api.as_("stranger"), await api.as_("foreigner")
    for other in (stranger, foreigner):
        assert (await other.get(path)).status_code == 404
        assert (await other.get("/templates?owner=all")).json()["items"] == []
    assert (await user.patch(path, {"shared": False})).status_code == 200
    assert (await colleague.get(path)).status_code == 404
    assert (await lead.get(path)).status_code == 404


async def test_hidden_values_stay_when_somebody_else_changes_the_definition(api: Api):
    made = await saved(await api.as_("user"), shared=True)
    head = await domain_admin(api)
    seen = (await head.get(f"/templates/{made['id']}")).json()["session"]
    changes = {**seen, "env": {**seen["env"], "MORE": "1"}, "command": ["other", "${epochs}"]}
    assert (await head.patch(f"/templates/{made['id']}", {"session": changes})).status_code == 200
    now = (await (await api.as_("user")).get("/templates/training")).json()["session"]
    assert now["env"] == {"TOKEN": "secret", "TAG": "${tag}", "MORE": "1"}
    assert now["command"] == ["other", "${epochs}"]


async def test_a_shared_template_remains_with_the_project_when_its_owner_leaves(api: Api):
    user, lead = await api.as_("user"), await project_admin(api)
    made = await saved(user, shared=True)
    await saved(user, "private")
    await sql(api.database, "DELETE FROM memberships WHERE user_id = :id", id=api.people.user.user_id)
    api.services.authenticator.forget()
    # Members start it: somebody who has left must not decide what runs there.
    path = f"/templates/{made['id']}"
    assert (await user.patch(path, {"description": "x"})).status_code == 404
    assert [one["name"] for one in (await user.get("/templates?owner=all")).json()["items"]] == ["private"]
    assert (await lead.patch(path, {"description": "x"})).status_code == 200
    assert (await (await api.as_("colleague")).get(path)).status_code == 200


async def test_a_change_based_on_an_older_revision_is_refused(api: Api):
    user, lead = await api.as_("user"), await project_admin(api)
    made = await saved(user, shared=True)
    assert (
        await lead.patch(f"/templates/{made['id']}", {"name": "drills", "revision": 1})
    ).status_code == 200
    late = await user.patch(f"/templates/{made['id']}", {"name": "exercise", "revision": 1})
    assert status_and_code(late) == (412, "template.changed")
    assert (late.json()["field"], late.json()["details"]) == ("revision", {"revision": 2})
    assert (await user.get(f"/templates/{made['id']}")).json()["name"] == "drills"


async def test_names_are_unique_for_an_owner_and_in_a_project(api: Api):
    user, colleague = await api.as_("user"), await api.as_("colleague")
    await saved(user)
    body = {"name": "training", "session": {**TRAINING, "command": ["x"], "env": {}}}
    taken = await user.post("/templates", body)
    assert (status_and_code(taken), taken.json()["field"]) == ((409, "template.name_taken"), "name")
    theirs = await saved(colleague, shared=True)
    taken = await user.patch("/templates/training", {"shared": True})
    assert status_and_code(taken) == (409, "template.name_taken")
    # One's own comes first.
    assert (await user.get("/templates/training")).json()["owner"]["email"] == "user@example.org"
    await user.delete("/templates/training")
    assert (await user.get("/templates/training")).json()["id"] == theirs["id"]


async def test_a_name_that_several_projects_share_needs_an_id(api: Api):
    both = await officer(api, "both", project=api.people.project)
    await sql(
        api.database,
        "INSERT INTO memberships (project_id, user_id, admin) VALUES (:project, :user, false)",
        project=api.people.other_project,
        user=both.actor.user_id if both.actor else "",
    )
    one = await saved(await api.as_("user"), shared=True)
    other = await saved(await api.as_("stranger"), shared=True)
    answer = await both.get("/templates/training")
    assert status_and_code(answer) == (409, "template.ambiguous")
    assert set(answer.json()["details"]["ids"]) == {one["id"], other["id"]}


async def test_variables_are_encrypted_at_rest(api: Api):
    role = {"name": "worker", "count": 2, "env": {"KEY": "hidden too"}}
    made = await saved(await api.as_("user"), session={**TRAINING, "roles": [role]})
    assert made["session"]["roles"] == [role]
    async with api.database.transaction() as tx:
        row = (await tx.execute(text("SELECT definition FROM session_templates"))).scalar_one()
        audited = (await tx.execute(text("SELECT array_agg(details::text) FROM audit"))).scalar_one()
    assert all(value.startswith("sealed:") for value in row["env"].values())
    stored = json.dumps(row) + "".join(audited)
    assert "secret" not in stored
    assert "hidden too" not in stored


@pytest.mark.parametrize(
    ("changes", "code", "field"),
    [
        ({"session": None}, "template.no_definition", "session"),
        ({"from_session": "x"}, "template.no_definition", "session"),
        ({"parameters": []}, "template.unknown_reference", "session.command.2"),
        ({"parameters": [*PARAMETERS, PARAMETERS[0]]}, "template.bad_parameter", "parameters.2.name"),
        ({"parameters": [{"name": "a b"}]}, "invalid.request", "parameters.0.name"),
        ({"session": {**TRAINING, "colour": "red"}}, "template.bad_definition", "session.colour"),
        ({"session": {**TRAINING, "kind": "interactive"}}, "session.not_batch", "session.command"),
        ({"name": "x"}, "invalid.request", "name"),
    ],
)
async def test_a_template_that_could_not_start_is_refused_with_the_field(
    api: Api, changes: dict[str, Any], code: str, field: str
):
    parameters = [{**one, "default": one.get("default", 3)} for one in PARAMETERS]
    body = {"name": "training", "parameters": parameters, "session": TRAINING, **changes}
    answer = await (await api.as_("user")).post("/templates", body)
    assert (status_and_code(answer), answer.json()["field"]) == ((422, code), field)


async def test_a_template_belongs_to_a_project_of_its_owner(api: Api):
    user = await api.as_("user")
    body = {"name": "training", "session": {"image": "debian:12", "slots": TRAINING["slots"]}}
    other = {**body, "session": {**body["session"], "project": api.people.other_project}}  # type: ignore[dict-item]
    assert status_and_code(await user.post("/templates", other)) == (404, "project.not_found")
    await saved(user)
    moved = await user.patch("/templates/training", {"session": other["session"]})
    assert status_and_code(moved) == (404, "project.not_found")


async def test_templates_are_searched_and_sorted(api: Api):
    user, colleague = await api.as_("user"), await api.as_("colleague")
    await saved(user, "beta_one", description="ImageNet training")
    await saved(colleague, "alpha_one", shared=True)
    await saved(colleague, "gamma_one")

    async def names(query: str = "") -> list[str]:
        return [one["name"] for one in (await user.get(f"/templates{query}")).json()["items"]]

    assert await names() == ["alpha_one", "beta_one"]
    assert await names("?sort=-name") == ["beta_one", "alpha_one"]
    assert await names("?owner=me") == ["beta_one"]
    assert await names("?q=imagenet") == ["beta_one"]
    assert await names("?q=a_one") == ["alpha_one", "beta_one"]
    assert await names("?q=%25") == []
    assert await names("?project=nonesuch") == []
    page = (await user.get("/templates?limit=1")).json()
    rest = (await user.get(f"/templates?cursor={page['next_cursor']}")).json()
    assert [one["name"] for one in (*page["items"], *rest["items"])] == ["alpha_one", "beta_one"]


async def test_members_follow_changes_until_a_template_is_no_longer_shared(api: Api):
    user = await api.as_("user")
    async with following(await api.as_("colleague")) as colleague, following(user) as owner:
        await saved(user, "unseen")
        made = await saved(user, shared=True)
        created = await colleague.until("template.created")
        assert created.data["object"] == {"kind": "template", "id": made["id"]}
        for changes in ({"shared": False}, {"description": "private"}, {"shared": True}):
            await user.patch(f"/templates/{made['id']}", changes)
        seen = [(await colleague.until("template.updated")).data["data"]["revision"] for _ in range(2)]
        assert seen == [2, 4]
        all_seen = [(await owner.until("template.updated")).data["data"]["revision"] for _ in range(3)]
        assert all_seen == [2, 3, 4]


async def test_private_templates_go_with_a_purged_user_and_shared_ones_stay(api: Api):
    user, admin = await api.as_("user"), await api.as_("superadmin")
    shared = await saved(user, shared=True)
    private = await saved(user, "private")
    disabled = await admin.patch("/users/user@example.org", {"state": "inactive"})
    assert disabled.status_code == 200, disabled.text
    purged = await admin.post("/users/user@example.org/purge", {"confirm": "user@example.org"})
    assert purged.status_code == 200, purged.text
    assert (await admin.get(f"/templates/{private['id']}")).status_code == 404
    assert (await admin.get(f"/templates/{shared['id']}")).status_code == 200
