"""Machines, groups, presets and policies: administered on the page, and what people notice of it."""

import re
from collections.abc import Iterator

import httpx2
import psycopg
import pytest
from playwright.sync_api import Locator, expect

from carrel.db.embedded import Embedded
from e2e.conftest import SMALL, Opener
from e2e.desk import STARTS_MS, Desk
from e2e.people import administrator, fresh, set_site
from e2e.roles import Roles
from e2e.running import EMAIL, Running


@pytest.fixture
def api(carrel: Running) -> Iterator[httpx2.Client]:
    with administrator(carrel) as client:
        yield client


@pytest.fixture
def node(api: httpx2.Client) -> Iterator[str]:
    """The name of the only node; it takes sessions again afterwards."""
    [one] = api.get("/nodes").json()["items"]
    yield one["name"]
    assert api.patch(f"/nodes/{one['id']}", json={"cordoned": False}).status_code == 200


def _drawer(desk: Desk, name: str) -> Locator:
    return desk.page.get_by_role("dialog", name=name, exact=True)


# Resource policies


def test_policy_is_made_given_and_tells_who_would_be_over_it(
    desk: Desk, api: httpx2.Client, own_session: str
) -> None:
    page, tight = desk.page, fresh("tight")
    desk.go("/policies?kind=user")
    page.get_by_role("button", name="New policy").click()
    form = _drawer(desk, "New policy for users")
    form.get_by_role("textbox", name="Name", exact=True).fill(tight)
    form.get_by_label("CPU cores: not limited").uncheck()
    form.get_by_label("Limit for CPU cores").fill("8")
    line = f"carrel policy create {tight} --kind user --slot cpu=8 --slot '*=unlimited'"
    expect(form.get_by_text(line)).to_be_visible()
    form.get_by_role("button", name="Create").click()
    expect(form).to_be_hidden()
    expect(desk.row(tight)).to_contain_text("8 CPU")
    expect(desk.row(tight)).to_contain_text("none")

    desk.go(f"/users?q={EMAIL}")
    desk.row(EMAIL).get_by_text(EMAIL, exact=True).click()
    person = _drawer(desk, EMAIL)
    person.get_by_role("button", name="Change resource policy").click()
    dialog = _drawer(desk, f"Resource policy of {EMAIL}")
    dialog.get_by_role("combobox", name="Policy").click()
    page.get_by_role("option", name=tight).click()
    expect(dialog.get_by_text(f"carrel policy assign {tight} --user {EMAIL}")).to_be_visible()
    dialog.get_by_role("button", name="Assign").click()
    expect(dialog).to_be_hidden()

    person.get_by_role("link", name=tight).click()
    policy = _drawer(desk, tight)
    expect(policy).to_contain_text("1 user")
    policy.get_by_role("button", name="Edit").click()
    form = _drawer(desk, f"Edit {tight}")
    expect(form.get_by_role("status")).to_contain_text("No one exceeds the new limits.")
    form.get_by_label("Limit for CPU cores").fill("0.1")
    notice = form.get_by_role("status")
    expect(notice).to_contain_text("1 exceeds the new limit")
    expect(notice).to_contain_text(re.compile(rf"{EMAIL} \(user\): uses [\d.]+ CPU, limit 0.1 CPU"))
    form.get_by_role("button", name="Cancel").click()

    desk.go("/policies?kind=user")
    remove = desk.row(tight).get_by_role("button", name=f"Remove: {tight}")
    expect(remove).to_have_attribute("aria-disabled", "true")
    expect(remove).to_have_accessible_name(re.compile("The policy is in use"))
    given = api.put("/policies/default-user/holders", json={"users": [EMAIL]})
    assert given.status_code == 200, given.text
    # It becomes possible the moment that nobody has it any more.
    expect(remove).not_to_have_attribute("aria-disabled", "true")
    remove.click()
    page.get_by_role("dialog", name="Remove resource policy").get_by_role("button", name="Remove").click()
    expect(desk.row(tight)).to_have_count(0)


def test_ceiling_of_a_project_tells_who_would_be_over_it(desk: Desk, own_session: str) -> None:
    desk.go("/projects")
    desk.page.get_by_role("button", name="Edit: default", exact=True).click()
    form = _drawer(desk, "Edit default")
    expect(form.get_by_role("status")).to_contain_text("No one exceeds the new limits.")
    form.get_by_label("CPU cores: not limited").uncheck()
    form.get_by_label("Limit for CPU cores").fill("0.1")
    expect(form.get_by_role("status")).to_contain_text("limit 0.1 CPU")
    form.get_by_role("button", name="Cancel").click()


def test_lists_show_the_usage_beside_the_limit(desk: Desk, carrel: Running, own_session: str) -> None:
    page = desk.page
    limited = carrel.carrel("project", "update", "default", "--ceiling", "cpu=100")
    assert limited.returncode == 0, limited.stderr
    try:
        for path, name in (
            ("/projects?q=default", "default"),
            ("/domains?q=default", "default"),
            (f"/users?q={EMAIL}", EMAIL),
            ("/resources/groups", "default"),
        ):
            desk.go(path)
            row = page.locator("tbody tr").filter(has_text=re.compile(f"^{re.escape(name)}"))
            expect(row).to_contain_text("GiB" if path == "/resources/groups" else "MiB")
            expect(page.get_by_role("columnheader", name="Accelerators")).to_have_count(0)
        desk.go("/projects?q=default")
        project = page.locator("tbody tr").filter(has_text=re.compile("^default"))
        usage = project.get_by_role("meter", name="CPU")
        expect(usage).to_have_attribute("aria-valuetext", re.compile(r"of 100, \d+%"))
        project.get_by_text("default", exact=True).first.click()
        expect(_drawer(desk, "default").get_by_text(re.compile(r"CPU: [\d.]+ of 100"))).to_be_visible()
    finally:
        carrel.carrel("project", "update", "default", "--no-ceilings")


# Resource groups


def test_group_is_seen_by_those_who_are_named_only(desk: Desk, open_desk: Opener, roles: Roles) -> None:
    page, optics = desk.page, fresh("optics")
    desk.go("/resources/groups")
    page.get_by_role("button", name="New group").click()
    form = _drawer(desk, "New resource group")
    form.get_by_role("textbox", name="Name", exact=True).fill(optics)
    form.get_by_role("switch", name="Public").click(force=True)
    form.get_by_role("combobox", name="Order").click()
    page.get_by_role("option", name="Fair share").click()
    expect(form.get_by_text(f"carrel group create {optics} --private --scheduler fair_share")).to_be_visible()
    form.get_by_role("button", name="Create").click()

    # Who may use it is the next question, since not everybody may.
    access = _drawer(desk, optics)
    users = access.get_by_label("Users", exact=True)
    users.fill(roles.project_admin)
    users.press("Enter")
    expect(
        access.get_by_text(f"carrel group access {optics} --allow user={roles.project_admin}")
    ).to_be_visible()
    access.get_by_role("button", name="Save").click()
    # While it is sent, the button is disabled, too.
    expect(access.get_by_text(f"carrel group access {optics}", exact=True)).to_be_visible()
    expect(access.get_by_role("button", name="Save")).to_be_disabled()
    page.keyboard.press("Escape")
    expect(desk.row(optics)).to_contain_text("1 listed")

    seen = {person: _groups(roles, open_desk, person) for person in (roles.project_admin, roles.user)}
    assert optics in seen[roles.project_admin]
    assert optics not in seen[roles.user]

    desk.row(optics).get_by_role("button", name="Remove").click()
    question = page.get_by_role("dialog", name="Remove resource group")
    question.get_by_label(f"Type {optics} to confirm").fill(optics)
    question.get_by_role("button", name="Remove").click()
    expect(desk.row(optics)).to_have_count(0)
    kept = desk.row("default").first.get_by_role("button", name="Remove: default")
    expect(kept).to_have_accessible_name(re.compile("The default group cannot be removed: new nodes join it"))


def _groups(roles: Roles, open_desk: Opener, person: str) -> list[str]:
    """The names of the resource groups that somebody sees."""
    theirs = roles.desk(open_desk, person)
    answer = theirs.page.request.get(f"{theirs.carrel.url}/api/v1/groups")
    return [group["name"] for group in answer.json()["items"]]


# Nodes


def test_cordon_makes_sessions_wait_and_uncordon_starts_them(desk: Desk, carrel: Running, node: str) -> None:
    page = desk.page
    desk.go("/resources")
    desk.row(node).get_by_role("button", name=f"Cordon: accept no new sessions: {node}").click()
    expect(desk.row(node)).to_contain_text("Cordoned")
    made = carrel.carrel("session", "create", *SMALL, "--name", "behind_the_cordon")
    assert made.returncode == 0, made.stderr
    desk.go("/sessions")
    desk.expect_state("behind_the_cordon", "Pending")
    expect(desk.row("behind_the_cordon")).to_contain_text("1 node: cordoned.")

    desk.go("/resources")
    desk.row(node).get_by_text(node, exact=True).click()
    drawer = _drawer(desk, node)
    drawer.get_by_role("button", name="Uncordon").click()
    expect(drawer.locator("[data-state=ready]")).to_be_visible()
    # The session comes by itself, as it is placed.
    drawer.get_by_role("tab", name="Sessions").click()
    expect(drawer.get_by_role("row").filter(has_text="behind_the_cordon")).to_contain_text(
        "Running", timeout=STARTS_MS
    )
    drawer.get_by_role("link", name="behind_the_cordon").click()
    expect(page.get_by_role("dialog", name="behind_the_cordon")).to_be_visible()
    carrel.carrel("session", "rm", "--yes", "behind_the_cordon", "--force")


@pytest.fixture
def lost_node(carrel: Running) -> Iterator[str]:
    """The name of a second node that never came back."""
    name = fresh("taken-away-")
    with psycopg.connect(Embedded(carrel.data_dir / "postgres").url, autocommit=True) as database:
        database.execute(
            "INSERT INTO nodes (id, name, engine_id, architecture, engine_version, slots, capabilities, state, "
            "down_since, seen_at) SELECT %(it)s, %(it)s, engine_id, architecture, engine_version, slots, "
            "capabilities, 'DOWN', now(), now() FROM nodes WHERE engine_id IS NOT NULL LIMIT 1",
            {"it": name},
        )
        yield name
        database.execute("DELETE FROM nodes WHERE id = %s", [name])


def test_machine_that_never_comes_back_is_forgotten_by_its_name(desk: Desk, lost_node: str) -> None:
    desk.go(f"/resources?open={lost_node}")
    drawer = _drawer(desk, lost_node)
    drawer.get_by_role("button", name="Forget…").click()
    question = desk.page.get_by_role("dialog", name="Forget node")
    expect(question).to_contain_text(f"carrel node forget {lost_node}")
    question.get_by_label(f"Type {lost_node} to confirm").fill(lost_node)
    question.get_by_role("button", name="Forget", exact=True).click()
    expect(drawer).to_be_hidden()
    expect(desk.page.get_by_role("row")).to_have_count(2)
    expect(desk.row(lost_node)).to_be_hidden()


def test_drain_says_first_what_becomes_of_each_session(
    desk: Desk, carrel: Running, node: str, own_session: str
) -> None:
    page = desk.page
    desk.go("/resources")
    desk.row(node).get_by_role("button", name="Drain: move or terminate its sessions").click()
    dialog = _drawer(desk, f"Drain {node}")
    told = dialog.get_by_role("row").filter(has_text=own_session)
    expect(told).to_contain_text("It keeps running until it ends")
    dialog.get_by_label("Requeue sessions").check()
    expect(told).to_contain_text("restarted on another node")
    dialog.get_by_label("Terminate sessions").check()
    expect(told).to_contain_text("files outside mounted folders are lost")
    expect(dialog.get_by_text(f"carrel node drain {node} --how end")).to_be_visible()
    go = dialog.get_by_role("button", name="Drain", exact=True)
    expect(go).to_be_disabled()
    dialog.get_by_label(f"Type {node} to confirm").fill(node)
    expect(go).to_be_enabled()

    # Asking has changed nothing; waiting harms nobody.
    expect(desk.row(node)).to_contain_text("Ready")
    dialog.get_by_label("Wait for sessions to end").check()
    go.click()
    expect(dialog).to_be_hidden()
    expect(desk.row(node)).to_contain_text("Draining")
    desk.row(node).get_by_role("button", name="Uncordon").click()
    expect(desk.row(node)).to_contain_text("Ready")
    desk.go("/sessions")
    desk.expect_state(own_session, "Running")
    page.keyboard.press("Escape")


def test_node_is_found_on_the_map_by_keyboard(
    desk: Desk, api: httpx2.Client, node: str, running_session: str
) -> None:
    page, one = desk.page, api.get(f"/nodes/{node}").json()
    cpu, memory = (round(100 * one["used"][slot] / one["offered"][slot]) for slot in ("cpu", "mem"))
    assert cpu > memory
    desk.go("/resources")
    page.get_by_text("Map", exact=True).click()
    expect(page).to_have_url(re.compile("view=map"))
    square = page.get_by_role("link", name=f"{node} {cpu}% (scarcest slot)", exact=True)
    square.focus()
    page.keyboard.press("Enter")
    expect(_drawer(desk, node)).to_contain_text("Total")
    page.keyboard.press("Escape")
    expect(square).to_be_focused()
    page.get_by_role("combobox", name="Coloured by").click()
    page.get_by_role("option", name="Memory").click()
    expect(page.get_by_role("link", name=f"{node} {memory}% (Memory)", exact=True)).to_be_visible()


def test_reserved_memory_is_offered_no_more(desk: Desk, api: httpx2.Client, node: str) -> None:
    before = api.get(f"/nodes/{node}").json()
    desk.go("/resources")
    desk.row(node).get_by_role("button", name="Edit").click()
    form = _drawer(desk, f"Edit {node}")
    # More than there is gets refused instead of cut to all that there is.
    form.get_by_label("Memory").fill("9999")
    form.get_by_role("button", name="Save").click()
    expect(form).to_contain_text("The node has less than this.")
    form.get_by_label("Memory").fill("2")
    expect(form.get_by_text(f"carrel node edit {node} --reserve mem=2g")).to_be_visible()
    form.get_by_role("button", name="Save").click()
    expect(form).to_be_hidden()
    after = api.get(f"/nodes/{node}").json()
    assert after["offered"]["mem"] == before["slots"]["mem"] - 2 * 2**30
    assert after["offered"]["cpu"] == before["offered"]["cpu"]
    api.patch(f"/nodes/{node}", json={"reserved": before["reserved"]})


def test_labels_of_a_node_are_set_filtered_by_and_selected(desk: Desk, api: httpx2.Client, node: str) -> None:
    desk.go("/resources")
    desk.row(node).get_by_role("button", name="Edit").click()
    form = _drawer(desk, f"Edit {node}")
    form.get_by_label("Own labels").fill("tier=fast")
    form.get_by_label("Own labels").press("Enter")
    expect(form.get_by_text(f"carrel node label {node} tier=fast")).to_be_visible()
    form.get_by_role("button", name="Save").click()
    expect(form).to_be_hidden()
    try:
        selector = desk.page.get_by_label("Filter by labels")
        selector.fill("tier notin (fast)")
        selector.press("Enter")
        expect(desk.row(node)).to_have_count(0)
        selector.fill("tier")
        selector.press("Enter")
        expect(desk.row(node)).to_be_visible()
        # The preview says what a group would do, before there is one.
        desk.go("/resources/groups?make=one")
        form = _drawer(desk, "New resource group")
        form.get_by_role("textbox", name="Name", exact=True).fill(fresh("labelled"))
        form.get_by_label("Node selector").fill("tier in (fast")
        expect(form.get_by_role("alert")).to_contain_text("The label selector lacks )")
        form.get_by_label("Node selector").fill("tier in (fast)")
        expect(form.get_by_role("status").filter(has_text="selected")).to_have_text(
            "1 node selected, 1 joins"
        )
        expect(form.get_by_role("row").filter(has_text=node)).to_contain_text("joins from default")
        expect(form.get_by_text("--node-selector 'tier in (fast)'")).to_be_visible()
    finally:
        api.patch(f"/nodes/{node}", json={"own_labels": {"tier": None}}).raise_for_status()


@pytest.fixture
def hidden_again(carrel: Running) -> Iterator[None]:
    """Nodes are hidden from people afterwards, whatever the journey came to."""
    yield
    set_site(carrel, nodes_visible=False)


def test_people_see_nodes_only_where_the_site_shows_them(
    carrel: Running, open_desk: Opener, roles: Roles, node: str, running_session: str, hidden_again: None
) -> None:
    theirs = roles.desk(open_desk, roles.user)
    expect(theirs.page.get_by_role("link", name="Sessions", exact=True)).to_be_visible()
    expect(theirs.page.get_by_role("link", name="Agent summary")).to_have_count(0)
    theirs.go("/agents")
    expect(theirs.page.get_by_role("alert")).to_contain_text("node.hidden")

    set_site(carrel, nodes_visible=True)
    theirs.go("/")
    theirs.page.get_by_role("link", name="Agent summary").click()
    expect(theirs.row(node)).to_contain_text("Ready")
    expect(theirs.page.get_by_role("button", name=re.compile("Cordon"))).to_have_count(0)
    theirs.row(node).get_by_text(node, exact=True).click()
    drawer = _drawer(theirs, node)
    expect(drawer).to_contain_text("None of your sessions is on this node")
    expect(drawer.get_by_text(running_session)).to_have_count(0)


# Presets


def test_preset_is_offered_by_the_launcher_until_it_is_removed(desk: Desk) -> None:
    page = desk.page
    desk.go("/resources/presets")
    page.get_by_role("button", name="New preset").first.click()
    form = _drawer(desk, "New preset")
    form.get_by_role("textbox", name="Name", exact=True).fill("nano")
    form.get_by_label("Amount of cpu").fill("0.25")
    form.get_by_label("Amount of mem").fill("0.25")
    expect(form.get_by_text("carrel preset create nano --slot cpu=0.25 --slot mem=256m")).to_be_visible()
    form.get_by_role("button", name="Create").click()
    expect(desk.row("nano")).to_contain_text("0.25 CPU · 256 MiB")
    expect(desk.row("nano")).to_contain_text("all groups")

    desk.go("/sessions?launch=new")
    launcher = _drawer(desk, "Start a session")
    expect(launcher.get_by_role("radio", name="nano")).to_be_visible()
    desk.go("/resources/presets")
    desk.row("nano").get_by_role("button", name="Remove").click()
    page.get_by_role("dialog", name="Remove preset").get_by_role("button", name="Remove").click()
    expect(desk.row("nano")).to_have_count(0)
