"""Nodes join resource groups by their labels, those of their engine and those that administrators set."""

import asyncio
from dataclasses import replace

import pytest
from installation import Api, Caller
from node_kit import join, machine
from people import eventually
from people_kit import status_and_code
from sqlalchemy import text

from carrel.nodes.groups import membership

A100 = replace(machine("a"), labels={"gpu": "a100", "zone": "eu-1"})
H100 = replace(machine("h"), labels={"gpu": "h100", "spot": ""})
PLAIN = machine("p")
_WAITING_FOR_IT = text("""
    SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
    WHERE d.datname = current_database() AND l.locktype = 'advisory' AND NOT l.granted""")


@pytest.fixture
async def three(api: Api) -> Api:
    """An installation whose engine has reported three nodes."""
    await join(api.database, A100, H100, PLAIN)
    return api


async def make(admin: Caller, name: str, selector: str | None) -> None:
    made = await admin.post("/groups", {"name": name, "node_selector": selector})
    assert made.status_code == 201, made.text


async def groups(admin: Caller, **filters: str) -> dict[str, str]:
    rows = (await admin.get("/nodes", params=filters)).json()["items"]
    return {row["name"]: row["group"]["name"] for row in rows}


async def test_nodes_that_meet_a_selector_join_its_group_now_and_when_they_are_new(three: Api):
    admin = await three.as_("superadmin")
    await make(admin, "gpu", " gpu in (a100, h100) ")
    assert (await admin.get("/groups/gpu")).json()["node_selector"] == "gpu in (a100, h100)"
    assert await groups(admin) == {"a": "gpu", "h": "gpu", "p": "default"}
    await join(three.database, A100, replace(H100, labels={}), PLAIN, replace(A100, name="new"))
    assert await groups(admin) == {"a": "gpu", "h": "default", "new": "gpu", "p": "default"}
    await admin.patch("/groups/gpu", {"node_selector": "!gpu"})
    assert await groups(admin) == {"a": "default", "h": "gpu", "new": "default", "p": "gpu"}
    await admin.patch("/groups/gpu", {"node_selector": None})
    assert set((await groups(admin)).values()) == {"default"}
    assert (await admin.delete("/groups/gpu")).status_code == 204


async def test_every_form_of_a_selector_filters_nodes(three: Api):
    admin = await three.as_("superadmin")
    for selector, names in (
        ("gpu", "ah"),
        ("!gpu", "p"),
        ("gpu=a100", "a"),
        ("gpu!=a100", "hp"),
        ("gpu in (a100,h100),!spot", "a"),
        ("gpu notin (a100)", "hp"),
        ("spot=", "h"),
        ("zone==eu-1", "a"),
        ("zone=eu-1,spot", ""),
    ):
        assert "".join(await groups(admin, selector=selector)) == names, selector
    refused = await admin.get("/nodes", params={"selector": "gpu in a100"})
    assert (refused.status_code, refused.json()["detail"]) == (
        422,
        "The label selector lacks ( before 'a100'.",
    )
    assert status_and_code(await admin.post("/groups", {"name": "x", "node_selector": "a=b=c"})) == (
        422,
        "invalid.request",
    )


async def test_of_several_groups_the_first_by_name_gets_a_node_and_the_others_are_shown(three: Api):
    admin = await three.as_("superadmin")
    await make(admin, "big", "gpu")
    await make(admin, "Any", "!spot")
    shown = (await admin.get("/nodes/a")).json()
    assert (shown["group"]["name"], [one["name"] for one in shown["selected_by"]]) == ("Any", ["Any", "big"])
    assert await groups(admin) == {"a": "Any", "h": "big", "p": "Any"}
    await admin.patch("/groups/any", {"name": "zoo"})
    assert await groups(admin) == {"a": "big", "h": "big", "p": "zoo"}


async def test_the_choice_of_an_administrator_comes_before_selectors_until_it_is_taken_back(three: Api):
    admin = await three.as_("superadmin")
    await admin.patch("/nodes/a", {"group": "default"})
    await make(admin, "gpu", "gpu")
    shown = (await admin.get("/nodes/a")).json()
    assert (shown["group"]["name"], shown["group_fixed"]) == ("default", True)
    assert [one["name"] for one in shown["selected_by"]] == ["gpu"]
    freed = (await admin.patch("/nodes/a", {"group": None})).json()
    assert (freed["group"]["name"], freed["group_fixed"]) == ("gpu", False)
    entry = (await admin.get("/audit?action=node.update")).json()["items"][0]
    assert (entry["details"]["before"]["group_id"], entry["details"]["after"]["group_id"]) == (
        "default",
        freed["group"]["id"],
    )


async def test_labels_of_administrators_select_too_and_outlive_what_the_engine_reports(three: Api):
    admin = await three.as_("superadmin")
    await make(admin, "gpu", "gpu=a100")
    labelled = (await admin.patch("/nodes/p", {"own_labels": {"gpu": "a100", "rack": "r1"}})).json()
    assert (labelled["group"]["name"], labelled["labels"]) == ("gpu", {"gpu": "a100", "rack": "r1"})
    changed = (await admin.patch("/nodes/p", {"own_labels": {"rack": None, "row": "2"}})).json()
    assert changed["own_labels"] == {"gpu": "a100", "row": "2"}
    # They take precedence over those of the engine.
    other = (await admin.patch("/nodes/a", {"own_labels": {"gpu": "broken"}})).json()
    assert (other["group"]["name"], other["labels"]) == ("default", {"gpu": "broken", "zone": "eu-1"})
    await join(three.database, A100, H100, replace(PLAIN, labels={"zone": "eu-2"}))
    assert await groups(admin) == {"a": "default", "h": "default", "p": "gpu"}
    for wrong in ({"-x": "1"}, {"x": "a b"}, {"x/y/z": ""}):
        assert (await admin.patch("/nodes/p", {"own_labels": wrong})).status_code == 422, wrong


async def test_a_preview_says_what_becomes_of_each_node_and_changes_nothing(three: Api):
    admin, user = await three.as_("superadmin"), await three.as_("user")
    await join(three.database, A100, H100, PLAIN, replace(machine("s"), labels={"gpu": "v100", "spot": ""}))
    await make(admin, "cheap", "spot")
    await admin.patch("/nodes/a", {"group": "default"})
    request = {"selector": "gpu", "name": "gpu"}
    shown = (await admin.post("/groups/selector-preview", request)).json()
    assert (shown["count"], shown["joining"]) == (3, 0)
    assert [(one["name"], one["outcome"], one["others"]) for one in shown["items"]] == [
        ("a", "fixed", []),
        ("h", "taken", ["cheap"]),
        ("s", "taken", ["cheap"]),
    ]
    earlier = (await admin.post("/groups/selector-preview", {**request, "name": "accelerated"})).json()
    assert [one["outcome"] for one in earlier["items"]] == ["fixed", "joins", "joins"]
    own = (await admin.post("/groups/selector-preview", {"selector": "spot", "name": "CHEAP"})).json()
    assert [(one["outcome"], one["others"]) for one in own["items"]] == [("stays", []), ("stays", [])]
    assert await groups(admin) == {"a": "default", "h": "cheap", "p": "default", "s": "cheap"}
    assert (await user.post("/groups/selector-preview", request)).status_code == 403


async def test_moves_are_written_down_and_published(three: Api):
    admin = await three.as_("superadmin")
    await make(admin, "gpu", "gpu")
    group = (await admin.get("/groups/gpu")).json()["id"]
    async with three.database.transaction() as tx:
        details = (await tx.execute(text("SELECT details FROM audit WHERE action = 'group.create'"))).scalar()
        moved = await tx.execute(
            text(
                "SELECT data ->> 'name' FROM events WHERE kind = 'node.updated' AND data ->> 'group_id' = :group"
            ),
            {"group": group},
        )
        assert moved.scalars().all() == ["a", "h"]
    assert details is not None
    assert details["nodes"] == {"a": group, "h": group}


async def test_only_superadmins_see_which_groups_select_a_node(three: Api):
    admin, user = await three.as_("superadmin"), await three.as_("user")
    await admin.patch("/site", {"nodes_visible": True})
    await make(admin, "gpu", "gpu")
    assert (await user.get("/nodes/a")).json()["selected_by"] == []


async def test_a_node_that_joins_while_a_selector_changes_is_in_the_right_group_after_both(three: Api):
    admin = await three.as_("superadmin")
    await make(admin, "gpu", "none-yet")
    async with three.database.transaction() as tx:
        await membership.change_selectors(tx)
        joining = asyncio.create_task(join(three.database, A100, H100, PLAIN, replace(A100, name="new")))

        async def waits() -> bool:
            assert not joining.done(), "it does not wait"
            return bool((await tx.execute(_WAITING_FOR_IT)).scalar())

        await eventually(waits)
        await tx.execute(text("UPDATE resource_groups SET node_selector = 'gpu' WHERE name = 'gpu'"))
        await membership.assign(tx)
    await joining
    assert await groups(admin) == {"a": "gpu", "h": "gpu", "new": "gpu", "p": "default"}
