"""Sharing a session: with a person who uses it until it is revoked, and by a link to look."""

import re

from playwright.sync_api import Locator, expect

from e2e.conftest import Opener
from e2e.desk import Desk
from e2e.people import make_person
from e2e.running import Running


def guest_of(open_desk: Opener, carrel: Running, path: str) -> tuple[Desk, str]:
    """Another person in a browser of their own, who opens this path and signs in; and their e-mail."""
    person = make_person(carrel)
    guest = open_desk(stranger=True)
    guest.go(path)
    guest.sign_in(person.password, email=person.email)
    return guest, person.email


def sharing_of(desk: Desk, session: str) -> Locator:
    desk.go("/sessions")
    return desk.detail(session, "Sharing")


def addressed(desk: Desk, session: str, email: str) -> Locator:
    """The tab of sharing, with this person filled in."""
    drawer = sharing_of(desk, session)
    people = drawer.get_by_label("People", exact=True).last
    people.fill(email)
    people.press("Enter")
    return drawer


def test_a_shared_session_is_used_by_another_person_until_it_is_revoked(
    open_desk: Opener, desk: Desk, carrel: Running, own_session: str
) -> None:
    guest, email = guest_of(open_desk, carrel, "/sessions?owner=shared")
    expect(guest.page.get_by_label("Shared with me")).to_be_checked()
    drawer = addressed(desk, own_session, email)
    drawer.get_by_label("Access", exact=True).click()
    desk.page.get_by_role("option", name="Use", exact=True).click()
    drawer.get_by_role("button", name="Share", exact=True).click()
    expect(drawer.get_by_role("button", name=re.compile(f"Stop sharing.*{re.escape(email)}"))).to_be_visible()
    # It appears on the page that is open.
    expect(guest.row(own_session)).to_contain_text("Shared")
    expect(guest.row(own_session).get_by_role("button", name="Terminate")).to_have_attribute(
        "aria-disabled", "true"
    )
    shell = guest.terminal(own_session)
    shell.enter("echo fr''om guest")
    shell.expect("from guest")
    drawer.get_by_role("button", name=re.compile(f"Stop sharing.*{re.escape(email)}")).click()
    desk.page.get_by_role("dialog", name="Stop sharing").get_by_role("button", name="Stop sharing").click()
    expect(drawer.get_by_text("Not shared", exact=True)).to_be_visible()
    expect(guest.page.get_by_text("no longer shared with you")).to_be_visible()
    # What the terminal shows stays, although the page finds the session gone.
    shell.expect("from guest")
    guest.go("/sessions?owner=shared")
    expect(guest.page.get_by_label("Shared with me")).to_be_checked()
    expect(guest.row(own_session)).to_have_count(0)


def test_who_is_told_of_a_shared_session_leaves_it(
    open_desk: Opener, desk: Desk, carrel: Running, own_session: str
) -> None:
    guest, email = guest_of(open_desk, carrel, "/sessions?owner=shared")
    expect(guest.page.get_by_label("Shared with me")).to_be_checked()
    drawer = addressed(desk, own_session, email)
    drawer.get_by_role("button", name="Share", exact=True).click()
    notice = guest.page.get_by_text(re.compile(f"shared {re.escape(own_session)} with you"))
    expect(notice).to_be_visible()
    guest.page.get_by_role("button", name=re.compile("^Notifications, 1 new")).click()
    bell = guest.page.get_by_role("dialog", name="Notifications")
    expect(bell).to_contain_text("shared it with you")
    bell.get_by_role("button", name=re.compile(re.escape(own_session))).click()
    shown = guest.page.get_by_role("dialog", name=own_session)
    shown.get_by_role("button", name="Leave…").click()
    question = guest.page.get_by_role("dialog", name="Leave session")
    expect(question).to_contain_text("You lose access to")
    question.get_by_role("button", name="Leave", exact=True).click()
    expect(shown).to_be_hidden()
    expect(guest.row(own_session)).to_have_count(0)
    # The owner sees it.
    expect(drawer.get_by_text("Not shared", exact=True)).to_be_visible()


def test_a_session_shared_with_a_project_is_not_left_by_a_member(
    open_desk: Opener, carrel: Running, own_session: str
) -> None:
    shared = carrel.carrel("session", "share", own_session, "--project", "default")
    assert shared.returncode == 0, shared.stderr
    guest, _ = guest_of(open_desk, carrel, f"/sessions?owner=shared&session={own_session}")
    leave = guest.page.get_by_role("dialog", name=own_session).get_by_role("button", name="Leave…")
    expect(leave).to_have_attribute("aria-disabled", "true")
    expect(leave).to_have_accessible_description(re.compile("shared with your project"))


def test_a_link_lets_somebody_look_who_signs_in_for_it(
    open_desk: Opener, desk: Desk, carrel: Running, own_session: str
) -> None:
    drawer = sharing_of(desk, own_session)
    drawer.get_by_text("Link", exact=True).click()
    drawer.get_by_role("button", name="Create link").click()
    link = drawer.get_by_test_id("share-link").inner_text()
    assert link.startswith(f"{carrel.url}/shared#token=")
    guest, email = guest_of(open_desk, carrel, link.removeprefix(carrel.url))
    shown = guest.page.get_by_role("dialog", name=own_session)
    expect(shown).to_contain_text("Shared with you to look at")
    expect(shown.get_by_role("button", name="Terminal")).to_have_attribute("aria-disabled", "true")
    expect(shown.get_by_role("tab", name="Sharing")).to_have_count(0)
    expect(shown.get_by_role("button", name="Resize…")).to_have_count(0)
    assert "token" not in guest.page.url
    expect(drawer.get_by_text(email)).to_be_visible()
    drawer.get_by_role("button", name=re.compile("^Revoke link")).first.click()
    desk.page.get_by_role("dialog", name="Revoke link").get_by_role("button", name="Revoke link").click()
    expect(drawer.get_by_text("Not shared", exact=True)).to_be_visible()
    guest.go(link.removeprefix(carrel.url))
    expect(guest.page.get_by_text("This link does not work")).to_be_visible()
