"""What axe finds on each page by all its rules, in both themes and on a phone."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from e2e.conftest import Opener
from e2e.desk import Desk
from e2e.people import administrator
from e2e.roles import Roles
from e2e.running import Running

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"


def _violations(page: Page) -> list[str]:
    """Each violation with the elements that it is about; in the other theme, of contrast alone."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text())
        # Colours are judged where a change of theme ends, not on its way there.
        page.add_style_tag(content="*, ::before, ::after { transition: none !important }")
    # A tooltip of what was clicked would lie outside the landmarks.
    page.mouse.move(0, 0)
    expect(page.get_by_role("tooltip")).to_have_count(0)
    worn, other = ("dark", "light") if page.locator(_WORN.format("dark")).count() else ("light", "dark")
    found = _found(page, worn, _EVERY_RULE)
    page.emulate_media(color_scheme=other)
    expect(page.locator(_WORN.format(other))).to_be_attached()
    return found + _found(page, other, "{ resultTypes: ['violations'], runOnly: ['color-contrast'] }")


_WORN = "html[data-mantine-color-scheme={}]"
# Targets of 24 by 24 pixels are asked for by WCAG 2.2 AA, but axe does not ask by default.
_EVERY_RULE = "{ resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } }"


def _found(page: Page, theme: str, options: str) -> list[str]:
    return [
        f"{theme}: {one['id']}: {one['help']} at {[node['html'][:200] for node in one['nodes'][:3]]}"
        for one in page.evaluate(f"axe.run(document, {options})")["violations"]
    ]


def test_sign_in_page_has_no_barrier(open_desk: Opener) -> None:
    desk = open_desk(stranger=True)
    desk.go("/")
    desk.sign_in("no password", email="nobody@example.org")
    expect(desk.page.get_by_role("alert")).to_be_visible()
    assert _violations(desk.page) == []


def test_pages_have_no_barrier(open_desk: Opener, running_session: str) -> None:
    desk = open_desk()
    faults = [f"{view}: {fault}" for view in _VIEWS for fault in _look(desk, running_session, view)]
    assert not faults, "\n".join(faults)


def test_dependencies_have_no_barrier(desk: Desk) -> None:
    carrel = desk.carrel.carrel
    batch = ("run", "--image", "starter", "--cpu", "0.1", "--mem", "256m", "--detach", "--name")
    later = ("--start-at", "2999-01-01T00:00Z")
    for name, *needs in (
        ["load_data", *later],
        ["train_one", "--after", "load_data"],
        ["train_two", "--after", "load_data:failed"],
        ["report_all", "--after", "train_one:ended", "--after", "train_two"],
    ):
        done = carrel(*batch, name, *needs, "--", "true")
        assert done.returncode == 0, done.stderr
    try:
        desk.go("/sessions?session=train_one&tab=dependencies")
        graph = desk.page.get_by_role("list", name="Dependencies")
        expect(graph.get_by_role("link")).to_have_count(3)
        faults = [f"graph: {fault}" for fault in _violations(desk.page)]
        desk.go("/sessions?launch=new")
        drawer = desk.page.get_by_role("dialog", name="Start a session")
        drawer.get_by_role("button", name="More options").click()
        drawer.get_by_role("button", name="Add session").click()
        expect(drawer.get_by_label("Session 1", exact=True)).to_be_visible()
        faults += [f"launcher: {fault}" for fault in _violations(desk.page)]
    finally:
        carrel("session", "rm", "--yes", "report_all", "train_two", "train_one", "load_data")
    assert not faults, "\n".join(faults)


def test_what_waits_has_no_barrier(open_desk: Opener, running_session: str) -> None:
    desk = open_desk()
    with administrator(desk.carrel) as api:
        everything = str(api.get("/resources").json()["capacity"]["cpu"] / 1000)
    size = ("--cpu", everything, "--mem", "256m")
    done = desk.carrel.carrel("session", "create", "--image", "starter", *size, "--name", "waits_desk")
    assert done.returncode == 0, done.stderr
    try:
        desk.go("/sessions")
        expect(desk.detail("waits_desk").get_by_role("region", name="Why is it waiting?")).to_contain_text(
            "CPU"
        )
        faults = [f"why: {fault}" for fault in _violations(desk.page)]
        desk.go("/sessions?launch=new")
        drawer = desk.page.get_by_role("dialog", name="Start a session")
        drawer.get_by_label("CPU cores", exact=True).fill(everything)
        drawer.get_by_role("button", name="More options").click()
        expect(drawer).to_contain_text("Starts later")
        faults += [f"starts later: {fault}" for fault in _violations(desk.page)]
        drawer.get_by_label("CPU cores", exact=True).fill("9999")
        expect(drawer).to_contain_text("Cannot start")
        faults += [f"cannot start: {fault}" for fault in _violations(desk.page)]
        desk.go("/scheduler")
        desk.page.get_by_role("button", name="Priority of waits_desk").click()
        expect(desk.page.get_by_role("button", name="Change priority", exact=True)).to_be_visible()
        faults += [f"queue: {fault}" for fault in _violations(desk.page)]
    finally:
        desk.carrel.carrel("session", "rm", "--yes", "waits_desk", "--force")
    assert not faults, "\n".join(faults)


def test_own_settings_have_no_barrier(open_desk: Opener) -> None:
    desk = open_desk()
    desk.go("/")
    faults = []
    for part in _SETTINGS:
        desk.turn_to(f"/settings/{part}")
        faults += [f"{part}: {fault}" for fault in _violations(desk.page)]
    assert not faults, "\n".join(faults)


def test_administration_has_no_barrier(open_desk: Opener, roles: Roles) -> None:
    desk = open_desk()
    desk.go("/")
    faults = []
    for path in _ADMINISTRATION:
        desk.turn_to(path)
        faults += [f"{path}: {fault}" for fault in _violations(desk.page)]
    desk.go(f"/users?q={roles.user}")
    desk.row(roles.user).get_by_text(roles.user, exact=True).click()
    drawer = desk.page.get_by_role("dialog", name=roles.user)
    for tab in ("Overview", "Sessions", "Folders", "Keypairs", "Sign-ins", "Activity"):
        drawer.get_by_role("tab", name=tab).click()
        expect(drawer.locator("[aria-busy=true]")).to_have_count(0)
        faults += [f"user, {tab}: {fault}" for fault in _violations(desk.page)]
    desk.go(f"/projects?q={roles.project}")
    desk.row(roles.project).get_by_text(roles.project, exact=True).click()
    expect(desk.page.get_by_role("dialog").get_by_role("switch").first).to_be_attached()
    faults += [f"project: {fault}" for fault in _violations(desk.page)]
    desk.go("/audit?span=custom")
    desk.page.get_by_role("button", name="Calendar: From").click()
    expect(desk.page.get_by_role("button", name="Next month")).to_be_visible()
    faults += [f"calendar: {fault}" for fault in _violations(desk.page)]
    assert not faults, "\n".join(faults)


def test_what_repeats_and_is_shared_has_no_barrier(desk: Desk, own_session: str, tmp_path: Path) -> None:
    carrel = desk.carrel.carrel
    definition = tmp_path / "steps.yaml"
    definition.write_text(_TEMPLATE)
    faults = []
    for words in (
        ("template", "create", "steps", "-f", str(definition)),
        ("schedule", "create", "each_night", "--cron", "0 6 * * 1-5", "--cpu", "0.1", "--", "true"),
        ("session", "share", own_session, "--project", "default"),
    ):
        done = carrel(*words)
        assert done.returncode == 0, done.stderr
    try:
        desk.go("/templates")
        for path in (
            "/templates",
            "/templates?form=new",
            "/import?url=http://host.example.org/acme/work",
            "/sessions/recurring",
            "/sessions/recurring?form=new",
        ):
            desk.turn_to(path)
            faults += [f"{path}: {fault}" for fault in _violations(desk.page)]
        desk.turn_to("/templates")
        for tool in ("Start", "Edit"):
            desk.row("steps").get_by_role("button", name=tool).click()
            cancel = desk.page.get_by_role("dialog").get_by_role("button", name="Cancel")
            expect(cancel).to_be_visible()
            faults += [f"template, {tool}: {fault}" for fault in _violations(desk.page)]
            cancel.click()
        desk.turn_to("/sessions/recurring")
        desk.row("each_night").get_by_text("each_night", exact=True).click()
        expect(desk.page.get_by_role("dialog", name="each_night")).to_contain_text("Weekdays")
        faults += [f"recurring run: {fault}" for fault in _violations(desk.page)]
        desk.go("/sessions")
        expect(desk.detail(own_session, "Sharing")).to_contain_text("Project default")
        faults += [f"sharing: {fault}" for fault in _violations(desk.page)]
        desk.go("/policies?form=new")
        form = desk.page.get_by_role("dialog", name="New policy for keypairs")
        form.get_by_label("Idle by utilization: not limited").uncheck()
        form.get_by_role("button", name="Try on the last month").click()
        expect(form.get_by_role("status").filter(has_text="would have been ended")).to_be_visible()
        faults += [f"dry run: {fault}" for fault in _violations(desk.page)]
    finally:
        carrel("template", "rm", "--yes", "steps")
        carrel("schedule", "rm", "--yes", "each_night")
    assert not faults, "\n".join(faults)


_TEMPLATE = """
parameters: [{name: steps, type: integer, default: 3, max: 9}, {name: quick, type: boolean, default: false}]
session: {image: starter, cpu: 0.25, mem: 256m, env: {STEPS: "${steps}", QUICK: "${quick}"}}
"""


@pytest.fixture
def folder(carrel: Running) -> Iterator[str]:
    """The id of a folder with a file in it."""
    with administrator(carrel) as api:
        made = api.post("/vfolders", json={"name": "without-barrier"}).json()["id"]
        text = (
            b"# Readings\n\nFrom [the station](https://example.org), since May.\n\n"
            b"- [ ] calibrate\n- [x] read\n\n| day | value |\n|---|---|\n| 1 | 7 |\n"
        )
        for path in ("README.md", "raw/may.csv"):
            assert api.put(f"/vfolders/{made}/content", params={"path": path}, content=text).is_success
        yield made
        api.post(f"/vfolders/{made}/trash")
        api.delete(f"/vfolders/{made}", params={"name": "without-barrier"})


def test_folders_have_no_barrier(open_desk: Opener, folder: str) -> None:
    desk = open_desk()
    desk.go("/")
    faults = []
    for path in (*_FOLDERS, _PREVIEW):
        desk.turn_to(path.format(folder))
        faults += [f"{path}: {fault}" for fault in _violations(desk.page)]
    assert not faults, "\n".join(faults)


_FOLDERS = (
    "/data",
    "/data?list=invitations",
    "/data?make=one",
    "/data?open={}",
    "/data?open={}&tab=sharing",
    "/data?open={}&tab=access",
    "/data/{}",
    "/data/{}?file=README.md&edit=yes",
    "/storage",
    "/storage?form=new",
    "/storage/folders",
    "/storage/quotas",
)
_PREVIEW = "/data/{}?file=README.md"

_ADMINISTRATION = (
    "/users",
    "/users?make=one",
    "/users?make=many",
    "/users/keypairs",
    "/projects",
    "/projects?make=one",
    "/domains",
    "/domains?make=one",
    "/audit",
    "/help",
    "/help/howto/limits",
    "/site",
    "/maintenance",
    "/maintenance/images",
    "/maintenance/scans",
    "/maintenance/information",
    "/providers",
    "/providers?make=one",
    "/dashboard",
    "/statistics",
    "/scheduler",
    "/scheduler?view=shares",
    "/resources",
    "/resources?view=map",
    "/resources/devices",
    "/resources/devices?view=table",
    "/resources/devices?view=fragmentation",
    "/resources/groups",
    "/resources/groups?make=one",
    "/resources/groups?open=default",
    "/resources/groups?open=default&tab=access",
    "/resources/groups?open=default&tab=weights",
    "/resources/presets",
    "/resources/presets?form=new",
    "/resources/engines",
    "/policies",
    "/policies?form=new",
    "/policies?form=default-keypair",
    "/policies?open=default-keypair",
    "/agents",
)


def test_pages_have_no_barrier_on_a_phone_and_are_no_wider(open_desk: Opener, folder: str) -> None:
    desk = open_desk(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    desk.go("/")
    faults = []
    settings = [f"/settings/{part}" for part in _SETTINGS]
    for path in ("/", "/sessions", "/sessions?launch=new", *_ADMINISTRATION, *_FOLDERS, *settings):
        desk.turn_to(path.format(folder))
        faults += [f"{path}: {fault}" for fault in _violations(desk.page)]
        if desk.page.evaluate("document.documentElement.scrollWidth") > 390:
            faults.append(f"{path} is wider than a phone")
    assert not faults, "\n".join(faults)


_SETTINGS = (
    "profile",
    "password",
    "two-factor",
    "passkeys",
    "keypairs",
    "keypairs?form=new",
    "tokens",
    "tokens?form=new",
    "ssh-keys?form=new",
    "sign-ins",
    "preferences",
    "notifications",
    "activity",
)

_VIEWS = (
    "start",
    "sessions",
    "launcher",
    "detail",
    "history",
    "logs",
    "apps",
    "usage",
    "terminate",
    "terminal",
)


def _look(desk: Desk, session: str, view: str) -> list[str]:
    page = desk.page
    if view == "start":
        desk.go("/")
        expect(page.get_by_text(session).first).to_be_visible()
    elif view == "terminal":
        desk.terminal(session)
    else:
        desk.go("/sessions?launch=new" if view == "launcher" else "/sessions")
        _open_drawer(desk, session, view)
    return _violations(page)


def _open_drawer(desk: Desk, session: str, view: str) -> None:
    if view == "launcher":
        expect(desk.page.get_by_role("button", name="Start", exact=True)).to_be_visible()
        return
    expect(desk.row(session)).to_contain_text("Running")
    if view == "terminate":
        desk.row(session).get_by_role("button", name="Terminate").click()
        expect(desk.page.get_by_role("button", name="Keep")).to_be_visible()
    elif view != "sessions":
        names = {"detail": "Overview", "usage": "Resource usage"}
        drawer = desk.detail(session, names.get(view, view.capitalize()))
        expect(drawer.get_by_role("tabpanel")).to_be_visible()
