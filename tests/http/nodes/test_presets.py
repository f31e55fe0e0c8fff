"""Presets by the API: which are offered to whom, and their names."""

from installation import Api
from people_kit import status_and_code

SMALL = {"cpu": 1000, "mem": 2 << 30}


async def test_a_preset_is_made_offered_changed_and_removed(api: Api):
    admin, user = await api.as_("superadmin"), await api.as_("user")
    made = await admin.post("/presets", {"name": "Small", "slots": SMALL})
    assert made.status_code == 201, made.text
    assert (made.json()["group"], made.json()["slots"]) == (None, SMALL)
    assert (await user.get("/presets")).json()["items"] == [made.json()]
    changed = await admin.patch("/presets/small", {"slots": {"cuda.shares": 300}, "group": "default"})
    assert changed.json()["group"] == {"id": "default", "name": "default"}
    assert changed.json()["slots"] == {"cuda.shares": 300}
    assert (await admin.patch("/presets/small", {"group": None})).json()["group"] is None
    assert (await admin.delete("/presets/SMALL")).status_code == 204
    assert status_and_code(await admin.delete("/presets/small")) == (404, "preset.not_found")
    assert (await user.get("/presets")).json()["items"] == []


async def test_presets_are_offered_where_their_group_may_be_used(api: Api):
    admin, user = await api.as_("superadmin"), await api.as_("user")
    await admin.post("/groups", {"name": "closed", "public": False})
    for name, group in (("everywhere", None), ("here", "default"), ("there", "closed")):
        await admin.post("/presets", {"name": name, "slots": SMALL, "group": group})

    async def names(who, **params):
        return [row["name"] for row in (await who.get("/presets", params=params)).json()["items"]]

    assert await names(admin) == ["everywhere", "here", "there"]
    assert await names(user) == ["everywhere", "here"]
    assert await names(admin, group="closed") == ["everywhere", "there"]
    assert status_and_code(await user.get("/presets", params={"group": "closed"})) == (404, "group.not_found")
    # A group takes its presets with it.
    assert (await admin.delete("/groups/closed")).status_code == 204
    assert await names(admin) == ["everywhere", "here"]


async def test_a_name_is_unique_in_its_place_in_any_case(api: Api):
    admin = await api.as_("superadmin")
    first = (await admin.post("/presets", {"name": "Small", "slots": SMALL})).json()
    assert status_and_code(await admin.post("/presets", {"name": "SMALL", "slots": SMALL})) == (
        409,
        "preset.name_taken",
    )
    second = await admin.post("/presets", {"name": "small", "slots": SMALL, "group": "default"})
    assert second.status_code == 201
    assert status_and_code(await admin.patch("/presets/small", {"slots": SMALL})) == (409, "preset.ambiguous")
    assert (await admin.patch(f"/presets/{first['id']}", {"name": "tiny"})).json()["name"] == "tiny"
    for wrong in (
        {"name": "x", "slots": {}},
        {"name": "x", "slots": {"cpu": 0}},
        {"name": "x", "slots": {"No": 1}},
        # Nobody could start a session with these.
        {"name": "x", "slots": {"disk": 1}},
        {"name": "x", "slots": {"sessions": 1}},
        {"name": "x", "slots": {"cpu": 9}},
        {"name": "x", "slots": {"mem": 1}},
        {"name": "x", "slots": {**SMALL, "cuda.device": 1, "cuda.shares": 500}},
    ):
        assert (await admin.post("/presets", wrong)).status_code == 422, wrong
    assert status_and_code(await admin.post("/presets", {"name": "x", "slots": SMALL, "group": "none"})) == (
        404,
        "group.not_found",
    )
