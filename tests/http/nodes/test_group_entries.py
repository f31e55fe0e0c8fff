"""Single entries of who may use a resource group and of its weights: the others stay, whoever changes them."""

import asyncio

from installation import Api
from people_kit import status_and_code
from sqlalchemy import text


async def test_single_ones_are_let_in_and_shut_out_and_the_others_stay(api: Api):
    admin, people = await api.as_("superadmin"), api.people
    at_first = {"domains": ["abroad"], "users": ["user@example.org"]}
    assert (await admin.ask("PUT", "/groups/default/access", json=at_first)).status_code == 200
    changed = await admin.patch(
        "/groups/default/access", {"domains": {"ABROAD": False}, "projects": {people.project: True}}
    )
    assert changed.status_code == 200, changed.text
    access = changed.json()["access"]
    assert (access["domains"], [row["id"] for row in access["projects"]]) == ([], [people.project])
    assert [row["email"] for row in access["users"]] == ["user@example.org"]
    again = await admin.patch("/groups/default/access", {"users": {people.user.user_id: True}})
    assert again.json()["access"] == access, "once is enough"
    unknown = await admin.patch("/groups/default/access", {"users": {"nobody@example.org": False}})
    assert status_and_code(unknown) == (404, "user.not_found")
    async with api.database.transaction() as tx:
        [written] = await tx.execute(
            text("SELECT details FROM audit WHERE action = 'group.update' OFFSET 1 LIMIT 1")
        )
    user = f"user:{people.user.user_id}"
    assert written[0]["before"]["access"] == [f"domain:{people.foreigner.domain_id}", user]
    assert written[0]["after"]["access"] == [f"project:{people.project}", user]


async def test_single_weights_are_set_and_taken_back_and_the_others_stay(api: Api):
    admin, people = await api.as_("superadmin"), api.people
    weights = {"domains": {"abroad": 2, "default": 3}, "users": {"user@example.org": 0.5}}
    assert (await admin.ask("PUT", "/groups/default/weights", json=weights)).status_code == 200
    changed = await admin.patch(
        "/groups/default/weights", {"domains": {"abroad": 4}, "users": {people.user.user_id: None}}
    )
    assert changed.status_code == 200, changed.text
    shown = changed.json()["weights"]
    assert [(row["name"], row["weight"]) for row in shown["domains"]] == [("abroad", 4), ("default", 3)]
    assert (shown["projects"], shown["users"]) == ([], [])
    wrong = await admin.patch("/groups/default/weights", {"domains": {"abroad": 0}})
    assert wrong.status_code == 422


async def test_changes_of_single_ones_at_the_same_time_are_all_kept(api: Api):
    admin = await api.as_("superadmin")
    people = ("user", "colleague", "stranger", "foreigner")
    answers = await asyncio.gather(
        *(admin.patch("/groups/default/access", {"users": {f"{who}@example.org": True}}) for who in people),
        *(admin.patch("/groups/default/weights", {"users": {f"{who}@example.org": 2}}) for who in people),
    )
    assert [answer.status_code for answer in answers] == [200] * 8
    shown = (await admin.get("/groups/default")).json()
    everybody = sorted(f"{who}@example.org" for who in people)
    for of in ("access", "weights"):
        assert sorted(row["email"] for row in shown[of]["users"]) == everybody
