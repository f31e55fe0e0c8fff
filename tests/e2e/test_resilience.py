"""The page while its server is away, slow or broken; and what the first load costs."""

import re
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, Route, expect

from e2e.conftest import Opener
from e2e.desk import Desk
from e2e.people import PASSWORD, make_person
from e2e.running import Running

BYTES = 350 << 10
REQUESTS = 25
WELCOME = re.compile("Welcome, ")


def _refuse(route: Route) -> None:
    route.fulfill(status=502, content_type="text/html", body="<h1>Bad gateway</h1>")


def test_first_load_stays_within_its_budget(page: Page, carrel: Running) -> None:
    # What the page downloads once it is at rest, after 1.5 s, is not counted: its clock is moved by hand.
    # It cannot be paused in its own past, so it begins early.
    now = datetime.now(tz=UTC)
    page.clock.install(time=now - timedelta(hours=1))
    page.clock.pause_at(now)
    urls: dict[str, str] = {}
    sizes: dict[str, int] = {}
    session = page.context.new_cdp_session(page)
    session.on("Network.requestWillBeSent", lambda e: urls.update({e["requestId"]: e["request"]["url"]}))
    session.on("Network.loadingFinished", lambda e: sizes.update({e["requestId"]: e["encodedDataLength"]}))
    session.send("Network.enable")
    page.goto(carrel.url)
    expect(page.get_by_role("heading", level=1)).to_have_text(WELCOME)
    for _ in range(20):
        page.wait_for_load_state("networkidle")
        page.clock.run_for(50)
    expect(page.get_by_role("region", name="Available to you")).to_contain_text("CPU")
    paths = {urlsplit(url).path: sizes.get(request, 0) for request, url in urls.items()}
    assert len(urls) <= REQUESTS, paths
    assert sum(sizes.values()) <= BYTES, paths
    assert not [path for path in paths if "rest" in path], "messages of pages that are not shown"


def test_a_page_that_could_not_be_downloaded_opens_when_the_server_is_back(desk: Desk) -> None:
    page = desk.page
    page.route("**/assets/SessionsPage*", lambda route: route.abort())
    desk.go("/")
    expect(page.get_by_role("heading", level=1)).to_have_text(WELCOME)
    page.evaluate("window.never_reloaded = true")
    page.context.set_offline(True)
    page.get_by_role("link", name="Sessions", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(WELCOME)
    page.unroute("**/assets/SessionsPage*")
    page.context.set_offline(False)
    expect(page.get_by_role("heading", level=1)).to_have_text("Sessions")
    assert page.evaluate("window.never_reloaded")


def test_a_stylesheet_that_could_not_be_downloaded_is_asked_for_again(desk: Desk) -> None:
    page = desk.page
    failed: list[str] = []

    def fail_once(route: Route) -> None:
        if route.request.url in failed:
            route.continue_()
        else:
            failed.append(route.request.url)
            route.abort()

    page.route("**/assets/*.css", fail_once)
    desk.go("/sessions")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sessions")
    page.wait_for_function(
        "[...document.querySelectorAll('link[rel=stylesheet]')].length > 1"
        " && [...document.querySelectorAll('link[rel=stylesheet]')].every((link) => link.sheet)"
    )
    assert len(failed) > 1


def test_fonts_come_with_the_page(desk: Desk) -> None:
    desk.go("/")
    expect(desk.page.get_by_role("heading", level=1)).to_have_text(WELCOME)
    faces = "(font) => document.fonts.load(font).then((faces) => faces.length)"
    assert desk.page.evaluate(faces, "600 16px Inter")
    # The font of a fixed width follows once the page is at rest.
    desk.page.wait_for_function(faces, arg="14px JetBrains Mono")
    for font in ("600 16px Inter", "14px JetBrains Mono"):
        assert desk.page.evaluate("(font) => document.fonts.check(font)", font)


def test_pages_open_offline_once_the_first_one_is_at_rest(desk: Desk) -> None:
    page = desk.page
    with page.expect_response("**/assets/ProvidersPage*"):
        desk.go("/")
    page.wait_for_load_state("networkidle")
    page.context.set_offline(True)
    navigation = page.get_by_role("navigation", name="Pages")
    for name in ("Sessions", "Data", "Your settings", "Users", "Audit", "Configuration"):
        navigation.get_by_role("link", name=name, exact=True).click()
        expect(navigation.get_by_role("link", name=name, exact=True)).to_have_attribute(
            "aria-current", "page"
        )
        expect(page.get_by_role("heading", level=1)).not_to_have_text(WELCOME)
    page.context.set_offline(False)


def test_a_bad_gateway_at_load_shows_the_frame_and_heals(desk: Desk) -> None:
    page = desk.page
    page.route("**/api/v1/auth/me", _refuse)
    desk.go("/sessions")
    expect(page.get_by_role("status")).to_contain_text("This page opens as soon as it does.")
    page.unroute("**/api/v1/auth/me")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sessions")


def test_an_error_goes_away_by_itself(desk: Desk, running_session: str) -> None:
    page = desk.page
    page.route("**/api/v1/sessions?**", _refuse)
    desk.go("/sessions")
    alert = page.get_by_role("alert")
    expect(alert.get_by_role("button", name="Try again")).to_be_visible()
    page.unroute("**/api/v1/sessions?**")
    expect(alert).to_be_hidden()
    expect(desk.row(running_session)).to_be_visible()


@pytest.mark.parametrize("path", ["/users", "/resources/groups", "/storage"])
def test_without_the_permission_a_page_says_so(carrel: Running, open_desk: Opener, path: str) -> None:
    person = make_person(carrel)
    desk = open_desk(stranger=True)
    desk.go(path)
    desk.sign_in(PASSWORD, email=person.email)
    expect(desk.page.get_by_role("heading", level=1)).to_have_text(
        "You do not have permission to see this page"
    )
    expect(desk.page.get_by_role("main").get_by_role("table")).to_be_hidden()


def test_a_refusal_is_not_offered_again(desk: Desk) -> None:
    desk.go("/data/no-such-folder")
    alert = desk.page.get_by_role("alert")
    expect(alert).to_contain_text("It may have been renamed or removed.")
    expect(alert).not_to_contain_text("carrel vfolder ls")
    expect(desk.page.get_by_role("button", name="Try again")).to_be_hidden()


def test_unsaved_settings_are_not_lost_by_a_click(desk: Desk) -> None:
    page = desk.page
    desk.go("/site")
    length = page.get_by_label("Minimum length")
    length.fill("31")
    sessions = page.get_by_role("link", name="Sessions", exact=True)
    sessions.click()
    asked = page.get_by_role("dialog", name="Discard unsaved changes?")
    asked.get_by_role("button", name="Keep editing").click()
    expect(asked).to_be_hidden()
    expect(length).to_have_value("31")
    sessions.click()
    asked.get_by_role("button", name="Discard changes").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sessions")
