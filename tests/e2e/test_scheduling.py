"""What starts, what waits and why: launcher, drawer, queue, shares and dashboard, under real ceilings."""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Locator, expect

from e2e.conftest import Opener
from e2e.desk import STARTS_MS, Desk
from e2e.people import administrator
from e2e.roles import PASSWORD, Roles
from e2e.running import Running

GIB = 1 << 30
CEILING = {"cpu": 500}
_serial = itertools.count(1)


@dataclass
class Lab:
    """A project that may use half a core at once, and somebody in it. Ended with all its sessions."""

    carrel: Running
    api: httpx2.Client
    domain: str = "default"
    name: str = field(default_factory=lambda: f"lab{next(_serial)}")

    @property
    def email(self) -> str:
        return f"{self.name}@example.org"

    def open(self) -> None:
        self.ask("POST", "/projects", {"name": self.name, "domain": self.domain, "ceilings": CEILING})
        place = {"domain": self.domain, "projects": [self.name]}
        person = {"email": self.email, "name": "Lab", "password": PASSWORD, "must_change_password": False}
        self.ask("POST", "/users", person | place)

    def close(self) -> None:
        for session in self.sessions():
            self.api.delete(f"/sessions/{session['id']}", params={"force": True})

    def ask(self, method: str, path: str, body: object = None) -> Any:
        answer = self.api.request(method, path, json=body)
        assert answer.status_code < 300, answer.text
        return answer.json() if answer.content else None

    def sessions(self) -> list[dict[str, Any]]:
        wanted = {"owner": "all", "project": self.name, "state": "live"}
        found: list[dict[str, Any]] = self.api.get("/sessions", params=wanted).json()["items"]
        return found

    def start(self, name: str, cpu: int) -> str:
        """Ask for a session as the person of the lab; gives its name."""
        with httpx2.Client(base_url=self.api.base_url, timeout=30) as api:
            me = api.post("/auth/login", json={"email": self.email, "password": PASSWORD}).json()
            api.headers["X-Carrel-CSRF"] = me["csrf_token"]
            name = f"{self.name}_{name}"
            slots = {"cpu": cpu, "mem": GIB // 4}
            answer = api.post("/sessions", json={"image": "starter", "name": name, "slots": slots})
            assert answer.status_code == 201, answer.text
            api.post("/auth/logout")
        return name

    def desk(self, open_desk: Opener, **options: object) -> Desk:
        """A browser in which the person of the lab is signed in."""
        desk = open_desk(stranger=True, **options)
        desk.go("/")
        desk.sign_in(PASSWORD, email=self.email)
        expect(desk.page.locator("h1")).to_contain_text("Lab")
        return desk


@pytest.fixture
def lab(carrel: Running) -> Iterator[Lab]:
    with administrator(carrel) as api:
        lab = Lab(carrel, api)
        lab.open()
        yield lab
        lab.close()


def _launcher(desk: Desk) -> Locator:
    desk.go("/sessions?launch=new")
    drawer = desk.page.get_by_role("dialog", name="Start a session")
    expect(drawer.get_by_label("CPU cores", exact=True)).to_be_visible()
    drawer.get_by_label("Memory", exact=True).fill("0.25")
    return drawer


def test_launcher_says_what_starts_what_waits_and_what_never_does(open_desk: Opener, lab: Lab) -> None:
    desk = lab.desk(open_desk)
    drawer = _launcher(desk)
    cpu, verdict = drawer.get_by_label("CPU cores", exact=True), drawer.locator("[data-verdict]")
    expect(drawer).to_contain_text(f"0.5 at most (project {lab.name}).")
    cpu.fill("0.25")
    expect(verdict).to_have_text("Starts now.")

    cpu.fill("64")
    expect(verdict).to_contain_text(f"Cannot start: Project {lab.name} may use 0.5 CPU at most.")
    start = drawer.get_by_role("button", name="Start", exact=True)
    expect(start).to_be_disabled()
    expect(start).to_have_accessible_description(f"Cannot start: Project {lab.name} may use 0.5 CPU at most.")

    lab.start("holder", 400)
    cpu.fill("0.3")
    expect(verdict).to_contain_text("Starts later: queue position 1.")
    expect(verdict).to_contain_text("may use 0.5 CPU at once and uses 0.4 CPU; this needs 0.3 CPU.")
    expect(drawer.get_by_role("button", name="Add to queue")).to_be_enabled()
    verdict.get_by_role("button", name="Request 0.1 CPU").click()
    expect(verdict).to_have_text("Starts now.")
    expect(drawer.locator("code")).to_contain_text("--cpu 0.1 ")


def test_fresh_launcher_asks_for_what_can_start_under_a_low_ceiling(open_desk: Opener, lab: Lab) -> None:
    desk = lab.desk(open_desk)
    desk.go("/sessions?launch=new")
    drawer = desk.page.get_by_role("dialog", name="Start a session")
    expect(drawer.get_by_label("CPU cores", exact=True)).to_have_value("0.5")
    expect(drawer.get_by_text("Starts now")).to_be_visible()
    expect(drawer.get_by_role("button", name="Start", exact=True)).to_be_enabled()
    # What the form began with is no change that a link must hold.
    drawer.get_by_label("Name", exact=True).fill("small-one")
    expect(desk.page).to_have_url(re.compile("small-one"))
    assert "slots" not in desk.page.url


def test_reason_of_a_pending_session_is_given_once(open_desk: Opener, lab: Lab) -> None:
    lab.start("holder", 300)
    desk = lab.desk(open_desk)
    waiting = lab.start("waiting", 400)
    desk.go(f"/sessions?session={_id_of(lab, waiting)}")
    why = desk.page.get_by_role("dialog", name=waiting).get_by_role("region", name="Why is it waiting?")
    expect(why).to_contain_text("uses 0.3 CPU")
    assert why.inner_text().count("0.3 CPU") == 1
    expect(why.get_by_role("group", name="Limits that block it")).to_have_text(f"project {lab.name}")


def test_launcher_offers_presets_with_what_becomes_of_them(open_desk: Opener, lab: Lab) -> None:
    small, large = f"{lab.name}-small", f"{lab.name}-large"
    made = [
        lab.ask("POST", "/presets", {"name": small, "slots": {"cpu": 200, "mem": GIB // 2}}),
        lab.ask("POST", "/presets", {"name": large, "slots": {"cpu": 1000, "mem": GIB}}),
    ]
    try:
        drawer = _launcher(lab.desk(open_desk))
        presets = drawer.get_by_role("radiogroup", name="Presets")
        cards = presets.get_by_role("radio")
        expect(cards.first).to_contain_text(f"{small}starts now0.2 CPU · 512 MiB")
        never = presets.get_by_role("radio", name=large)
        expect(never).to_contain_text("never")
        expect(never).to_have_accessible_description(f"Project {lab.name} may use 0.5 CPU at most.")
        cards.first.click()
        expect(presets.get_by_role("radio", name=small)).to_be_checked()
        expect(drawer.get_by_label("CPU cores", exact=True)).to_have_value("0.2")
        expect(drawer.get_by_label("Memory", exact=True)).to_have_value("512 MiB")
        presets.get_by_role("radio", name=small).press("ArrowRight")
        expect(never).to_be_checked()
        expect(drawer.locator("[data-verdict]")).to_contain_text("Cannot start")
    finally:
        for preset in made:
            lab.ask("DELETE", f"/presets/{preset['id']}")


def test_what_the_launcher_asks_for_is_what_the_session_has(desk: Desk, lab: Lab) -> None:
    drawer = _launcher(desk)
    drawer.get_by_label("Name", exact=True).fill("with_wishes")
    drawer.get_by_label("CPU cores", exact=True).fill("0.1")
    drawer.get_by_role("button", name="More options").click()
    drawer.get_by_label("Priority").fill("60")
    drawer.get_by_label("Time limit", exact=True).fill("90")
    drawer.get_by_role("combobox", name="Unit of: Time limit").click()
    desk.page.get_by_role("option", name="minutes").click()
    drawer.get_by_role("combobox", name="Node").click()
    desk.page.get_by_role("option").first.click()
    expect(drawer.locator("code")).to_contain_text("--priority 60 --time-limit 90m --node ")
    drawer.get_by_role("button", name="Start", exact=True).click()
    expect(drawer).to_be_hidden()
    desk.expect_state("with_wishes", "Running")
    session = lab.ask("GET", "/sessions/with_wishes")
    assert (session["priority"], session["time_limit_s"]) == (60, 5400)
    lab.ask("DELETE", "/sessions/with_wishes?force=true")


def test_drawer_says_why_a_session_waits_and_the_change_starts_it(open_desk: Opener, lab: Lab) -> None:
    holders, waiting = (lab.start("holder", 200), lab.start("holder2", 250)), lab.start("waiting", 400)
    desk = lab.desk(open_desk)
    desk.go("/sessions")
    for holder in holders:
        desk.expect_state(holder, "Running")
    why = desk.detail(waiting).get_by_role("region", name="Why is it waiting?")
    expect(why).to_contain_text(
        f"Project {lab.name} may use 0.5 CPU at once and uses 0.45 CPU; this needs 0.4 CPU."
    )
    expect(why).to_contain_text("in default")
    # Neither alone leaves enough.
    why.get_by_role("button", name=f"Terminate {', '.join(holders)}").click()
    question = desk.page.get_by_role("dialog", name="Terminate sessions")
    expect(question).to_contain_text(holders[0])
    expect(question).to_contain_text(holders[1])
    question.get_by_role("button", name="Terminate").click()
    expect(why).to_be_hidden(timeout=STARTS_MS)
    desk.expect_state(waiting, "Running")


def test_smaller_request_replaces_the_waiting_one(open_desk: Opener, lab: Lab) -> None:
    holder, waiting = lab.start("holder", 300), lab.start("waiting", 400)
    desk = lab.desk(open_desk)
    desk.go("/sessions")
    desk.expect_state(holder, "Running")
    before = _id_of(lab, waiting)
    drawer = desk.detail(waiting)
    drawer.get_by_role("button", name="Request 0.2 CPU").click()
    desk.page.wait_for_function("id => !location.search.includes(id)", arg=before)
    expect(desk.row(waiting).filter(has_text="Running")).to_be_visible(timeout=STARTS_MS)
    [now] = [one for one in lab.sessions() if one["name"] == waiting]
    assert now["slots"]["cpu"] == 200


def test_administrator_is_led_to_the_limit_that_blocks(desk: Desk, open_desk: Opener, lab: Lab) -> None:
    lab.start("holder", 300)
    waiting = _id_of(lab, lab.start("waiting", 400))
    desk.go(f"/sessions?session={waiting}")
    desk.page.get_by_role("link", name="Adjust this limit").click()
    expect(desk.page.get_by_role("dialog", name=f"Edit {lab.name}")).to_be_visible()
    own = lab.desk(open_desk)
    own.go(f"/sessions?session={waiting}")
    expect(own.page.get_by_role("group", name="Limits that block it")).to_be_visible()
    expect(own.page.get_by_role("link", name="Adjust this limit")).to_be_hidden()


def _id_of(lab: Lab, name: str) -> str:
    return str(lab.ask("GET", f"/sessions/{name}")["id"])


def test_queue_is_in_order_and_a_priority_changes_it(desk: Desk, lab: Lab) -> None:
    lab.start("holder", 500)
    first, second = lab.start("first", 200), lab.start("second", 200)
    desk.go("/scheduler")
    names = desk.page.get_by_role("table", name="Queue of default").get_by_role("link")
    expect(names).to_have_text([first, second])
    expect(desk.row(first)).to_contain_text(lab.email)
    expect(desk.row(first)).to_contain_text("may use 0.5 CPU at once")
    desk.page.get_by_role("button", name=f"Priority of {second}: 50").click()
    field = desk.page.get_by_role("textbox", name=f"Priority of {second}")
    # What cannot be is said, and not sent as something else.
    field.fill("150")
    desk.page.get_by_role("button", name="Change priority", exact=True).click()
    expect(desk.page.get_by_role("status").filter(has_text="0 to 100")).to_be_visible()
    expect(field).to_have_value("150")
    field.fill("80")
    field.press("Enter")
    expect(names).to_have_text([second, first])
    expect(desk.page.get_by_role("button", name=f"Priority of {second}: 80")).to_be_focused()
    names.first.click()
    drawer = desk.page.get_by_role("dialog", name=second)
    expect(drawer.get_by_role("region", name="Why is it waiting?")).to_contain_text("Queue position 1 of 2")


def test_queue_names_nobody_whom_one_may_not_see(open_desk: Opener, carrel: Running, lab: Lab) -> None:
    lab.start("holder", 500)
    lab.start("secret", 200)
    with administrator(carrel) as api:
        other = Lab(carrel, api)
        other.open()
    desk = other.desk(open_desk)
    desk.go("/scheduler")
    table = desk.page.get_by_role("table", name="Queue of default")
    expect(table).to_contain_text("another user's")
    expect(table).not_to_contain_text(lab.name)
    expect(table.get_by_role("button", name="Priority of")).to_have_count(0)
    expect(desk.page.get_by_role("radiogroup")).to_have_count(0)
    expect(desk.page.get_by_role("link", name="Scheduler")).to_have_count(0)


def test_shares_tell_who_has_how_much_and_weights_are_changed_there(desk: Desk, lab: Lab) -> None:
    lab.start("holder", 400)
    desk.go("/scheduler?view=shares")
    row = (
        desk.page.get_by_role("table", name="Shares")
        .get_by_role("row")
        .filter(has_text=f"{lab.name} project")
    )
    expect(row).to_contain_text("0.4 CPU · 256 MiB")
    row.get_by_role("button", name=f"Weight of {lab.name}: 1").click()
    weight = desk.page.get_by_role("textbox", name=f"Weight of {lab.name}")
    weight.fill("2")
    weight.press("Enter")
    expect(row.get_by_role("button", name=f"Weight of {lab.name}: 2")).to_be_visible()
    kept = lab.ask("GET", "/groups/default")["weights"]["projects"]
    assert [(one["name"], one["weight"]) for one in kept] == [(lab.name, 2.0)]
    lab.ask("PUT", "/groups/default/weights", {})


def test_dashboard_shows_what_is_used_beside_each_limit_and_is_live(open_desk: Opener, lab: Lab) -> None:
    desk = lab.desk(open_desk)
    desk.go("/dashboard")
    place = desk.page.get_by_role("region", name=f"project {lab.name}")
    expect(place).to_contain_text("0 of 0.5")
    mine = desk.page.get_by_role("region", name="My sessions")
    expect(mine).to_contain_text("No live sessions.")
    lab.start("holder", 300)
    expect(place).to_contain_text("0.3 of 0.5", timeout=STARTS_MS)
    expect(desk.page.get_by_role("region", name="Available to you")).to_contain_text("0.2 of 0.5")
    expect(mine).to_contain_text("Running1", timeout=STARTS_MS)


def test_who_administers_one_domain_sees_what_of_it_is_whose_and_nothing_of_others(
    open_desk: Opener, carrel: Running, roles: Roles, lab: Lab
) -> None:
    lab.start("holder", 200)
    with administrator(carrel) as api:
        theirs = Lab(carrel, api, domain=roles.domain)
        theirs.open()
        try:
            theirs.start("holder", 100)
            desk = roles.desk(open_desk, roles.domain_admin)
            desk.go("/scheduler?view=shares")
            rows = desk.page.get_by_role("table", name="Shares").get_by_role("row")
            domain = rows.filter(has_text=f"{roles.domain} domain").get_by_role("cell")
            expect(domain.nth(1)).to_have_text("–")
            expect(rows.filter(has_text=f"{theirs.name} project")).to_contain_text("100%")
            expect(rows.filter(has_text=lab.name)).to_have_count(0)
        finally:
            theirs.close()


DRAWN = """figure => [...figure.querySelectorAll("[data-share]")].map(line => {
    const [name, track, said] = line.children, [bar, mark] = track.children
    const box = track.getBoundingClientRect()
    const percent = length => 100 * length / box.width
    const at = mark.getBoundingClientRect().x - box.x
    return [name.textContent, percent(bar.getBoundingClientRect().width), percent(at), said.textContent]
})"""
"""Of each line of the picture: its name, how long its bar is and where its mark is in percent, and what it says."""


def test_picture_of_shares_draws_what_its_table_says(desk: Desk, lab: Lab) -> None:
    lab.start("holder", 400)
    lab.start("waiting", 200)
    desk.go("/scheduler?view=shares")
    table = desk.page.get_by_role("table", name="Shares")
    expect(table.get_by_role("row").filter(has_text=f"{lab.name} project")).to_contain_text("0.4 CPU")
    rows = [row.get_by_role("cell").all_inner_texts() for row in table.get_by_role("row").all()[1:]]
    drawn = desk.page.get_by_role("figure", name="Chart of shares").evaluate(DRAWN)
    assert lab.name in [name for name, *_ in drawn]
    assert len(drawn) == len(rows)
    for (_, bar, mark, said), (_, theirs, entitled, *_) in zip(drawn, rows, strict=True):
        assert bar == pytest.approx(float(theirs.strip("%")), abs=1.1)
        assert mark == pytest.approx(float(entitled.strip("%")), abs=1.1)
        assert float(said.strip("%")) == pytest.approx(float(theirs.strip("%")), abs=0.6)
    # The order of the group is not the fair share: nobody is next by it.
    expect(desk.page.get_by_text("next", exact=True)).to_have_count(0)


WORDS = {
    "ko-KR": ("대시보드", "스케줄러", "대기하는 이유", "동시에 0.5 CPU까지 사용할 수 있고"),
    "ja-JP": ("ダッシュボード", "スケジューラー", "待機している理由", "は同時に 0.5 CPU まで使え"),
}


@pytest.mark.parametrize("locale", WORDS)
def test_on_a_phone_in_another_language(open_desk: Opener, lab: Lab, locale: str) -> None:
    dashboard, scheduler, why, reason = WORDS[locale]
    lab.start("holder", 400)
    waiting = lab.start("waiting", 300)
    desk = open_desk(locale=locale, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = desk.page
    for path, title in (
        ("/dashboard", dashboard),
        ("/scheduler", scheduler),
        ("/scheduler?view=shares", scheduler),
    ):
        desk.go(path)
        expect(page.get_by_role("heading", level=1)).to_have_text(title)
        expect(page.locator("[aria-busy=true]")).to_have_count(0)
        assert page.evaluate("document.documentElement.scrollWidth") == 390
    desk.go(f"/sessions?owner=all&session={waiting}")
    box = page.get_by_role("region", name=why)
    expect(box).to_contain_text(reason)
    assert box.evaluate("box => box.scrollWidth <= box.clientWidth")
