"""Signing in and out, step by step."""

import email
import queue
import re
from collections.abc import Iterator
from contextlib import contextmanager
from email.policy import default

import pyotp
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session
from playwright.sync_api import expect

from e2e.conftest import Opener
from e2e.desk import Desk
from e2e.people import administrator, fresh, make_person, set_site
from e2e.running import Running


def test_wrong_password_says_so_and_lets_try_again(open_desk: Opener) -> None:
    desk = open_desk(stranger=True)
    desk.go("/")
    desk.sign_in("not the password")
    alert = desk.page.get_by_role("alert")
    expect(alert).to_contain_text("password")
    expect(alert).to_contain_text("auth.bad_credentials")
    expect(desk.page.get_by_label("Password", exact=True)).to_be_focused()
    desk.sign_in()
    expect(desk.page.get_by_role("heading", level=1)).to_contain_text("Welcome, ")


def test_signing_in_lands_where_the_link_pointed(open_desk: Opener) -> None:
    desk = open_desk(stranger=True)
    desk.go("/sessions?state=ended&q=nobody")
    expect(desk.page.get_by_label("E-mail")).to_be_focused()
    desk.sign_in()
    expect(desk.page.get_by_label("Search by name or image")).to_have_value("nobody")
    expect(desk.page).to_have_url(f"{desk.carrel.url}/sessions?state=ended&q=nobody")


def test_signing_in_never_leads_to_another_site(open_desk: Opener) -> None:
    desk = open_desk(stranger=True)
    desk.go("/signin?next=//example.org/")
    desk.sign_in()
    expect(desk.page.get_by_role("heading", level=1)).to_contain_text("Welcome, ")
    assert desk.page.url == f"{desk.carrel.url}/"


def test_signed_out_means_out(open_desk: Opener) -> None:
    desk = open_desk(stranger=True)
    desk.go("/")
    desk.sign_in()
    desk.page.get_by_role("button", name="User menu").click()
    desk.page.get_by_role("menuitem", name="Sign out").click()
    expect(desk.page.get_by_label("E-mail")).to_be_visible()
    answer = desk.page.evaluate("fetch('/api/v1/sessions').then((answer) => answer.status)")
    assert answer == 401


def test_page_forbids_inline_scripts_and_framing(desk: Desk) -> None:
    answer = desk.page.goto(desk.carrel.url)
    assert answer is not None
    policy = dict(
        rule.split(None, 1)
        for rule in answer.headers["content-security-policy"].split(";")
        if " " in rule.strip()
    )
    assert policy.get("script-src", policy["default-src"]) == "'self'"
    assert policy["frame-ancestors"] == "'none'"
    desk.page.evaluate(
        """() => {
            const script = document.createElement("script");
            script.textContent = "window.planted = true";
            document.body.append(script);
        }"""
    )
    assert desk.page.evaluate("window.planted") is None


def test_lock_says_how_long_it_lasts(carrel: Running, open_desk: Opener) -> None:
    person = make_person(carrel)
    desk = open_desk(stranger=True)
    desk.go("/signin")
    refused = (
        "() => fetch('/api/v1/auth/login', {method: 'POST', headers: {'Content-Type': 'application/json'},"
    )
    for _ in range(10):
        desk.page.evaluate(
            f"{refused} body: JSON.stringify({{email: '{person.email}', password: 'wrong'}})}})"
        )
    desk.sign_in("wrong", email=person.email)
    alert = desk.page.get_by_role("alert")
    expect(alert).to_contain_text("locked")
    expect(alert).to_contain_text(re.compile(r"in (19|20)m \d\ds"))


def test_server_that_is_away_is_told_and_tried_again(open_desk: Opener) -> None:
    desk = open_desk(stranger=True)
    desk.go("/signin")
    expect(desk.page.get_by_label("E-mail")).to_be_focused()
    desk.page.context.set_offline(True)
    desk.sign_in()
    expect(desk.page.get_by_role("alert")).to_contain_text("The server does not respond")
    desk.page.context.set_offline(False)
    desk.page.get_by_role("button", name="Sign in", exact=True).click()
    expect(desk.page.get_by_role("heading", level=1)).to_contain_text("Welcome, ")


def test_forced_change_survives_a_reload_and_opens_the_page(carrel: Running, open_desk: Opener) -> None:
    person = make_person(carrel, must_change_password=True)
    desk = open_desk(stranger=True)
    page = desk.page
    desk.go("/settings/profile")
    desk.sign_in(person.password, email=person.email)
    expect(page.get_by_role("heading", name="Choose a new password")).to_be_visible()
    page.reload()
    page.get_by_label("Current password").fill(person.password)
    page.get_by_label("New password").fill("password1")
    expect(page.get_by_text("Strength: very weak")).to_be_visible()
    page.get_by_role("button", name="Change password").click()
    expect(page.get_by_role("alert")).to_contain_text("easy to guess")
    page.get_by_label("New password").fill("Another-lantern-42-rivers")
    expect(page.get_by_text("Strength: strong")).to_be_visible()
    page.get_by_role("button", name="Change password").click()
    expect(page).to_have_url(f"{carrel.url}/settings/profile")
    expect(page.get_by_role("heading", name="Profile", level=1)).to_be_visible()


class _Mailbox:
    """Takes every letter."""

    def __init__(self) -> None:
        self.letters: queue.Queue[bytes] = queue.Queue()

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        self.letters.put(bytes(envelope.content or b""))
        return "250 OK"

    def link(self) -> str:
        """The address in the next letter."""
        letter = email.message_from_bytes(self.letters.get(timeout=60), policy=default)
        found = re.search(r"http\S+#token=[\w-]+", letter.get_body(("plain",)).get_content())  # type: ignore[attr-defined]
        assert found, letter
        return found[0]


class _FreePort(Controller):
    """A controller whose port is known once it listens."""

    def _trigger_server(self) -> None:
        assert self.server
        self.port = self.server.sockets[0].getsockname()[1]
        super()._trigger_server()


@contextmanager
def _mail(carrel: Running) -> Iterator[_Mailbox]:
    """The installation sends mail, until the block ends."""
    mailbox = _Mailbox()
    server = _FreePort(mailbox, hostname="127.0.0.1", port=0)
    server.start()
    set_site(
        carrel,
        mail_host="127.0.0.1",
        mail_port=server.port,
        mail_tls="none",
        mail_sender="carrel@example.org",
    )
    try:
        yield mailbox
    finally:
        set_site(carrel, mail_host="")
        server.stop()


def test_forgotten_password_is_set_anew_by_a_letter_once(carrel: Running, open_desk: Opener) -> None:
    person = make_person(carrel)
    desk = open_desk(stranger=True)
    page = desk.page
    with _mail(carrel) as mailbox:
        desk.go("/signin")
        page.get_by_role("link", name="Forgot your password?").click()
        expect(page.get_by_role("heading", name="Forgot your password?")).to_be_visible()
        page.get_by_label("E-mail").fill(person.email)
        page.get_by_role("button", name="Send reset link").click()
        expect(page.get_by_role("status")).to_contain_text(
            f"If an account exists for {person.email}, we sent a link to it."
        )
        link = mailbox.link()
    page.goto(link)
    page.get_by_label("New password").fill("Another-lantern-42-rivers")
    page.get_by_role("button", name="Set password").click()
    expect(page.get_by_role("heading", name="Password changed")).to_be_visible()
    page.get_by_role("link", name="Sign in").click()
    desk.sign_in("Another-lantern-42-rivers", email=person.email)
    expect(page.get_by_role("heading", level=1)).to_contain_text("Welcome, ")

    other = open_desk(stranger=True)
    other.page.goto(link)
    other.page.get_by_label("New password").fill("Third-lantern-42-rivers")
    other.page.get_by_role("button", name="Set password").click()
    expect(other.page.get_by_role("alert")).to_contain_text("This link does not work")


def test_forced_second_step_is_set_up_while_signing_in(carrel: Running, open_desk: Opener) -> None:
    set_site(carrel, second_factor="everybody")
    try:
        person = make_person(carrel)
        desk = open_desk(stranger=True)
        page = desk.page
        desk.go("/sessions")
        desk.sign_in(person.password, email=person.email)
        page.get_by_role("button", name="Use an authenticator app").click()
        secret = page.locator("[data-secret]")
        expect(secret).not_to_have_text("…")
        page.get_by_label("Code from the app").fill(pyotp.TOTP(secret.inner_text().replace(" ", "")).now())
        page.get_by_role("button", name="Turn on").click()
        page.get_by_label("I have saved the codes").check()
        page.get_by_role("button", name="Continue").click()
        expect(page).to_have_url(re.compile("/sessions"))
        expect(page.get_by_role("heading", name="Sessions", level=1)).to_be_visible()
    finally:
        set_site(carrel, second_factor="nobody")

    # Whoever lost it asks an administrator, and is let in without it.
    other = open_desk()
    other.go(f"/users?user={person.id}&tab=logins")
    reset = other.page.get_by_role("button", name="Reset two-factor authentication…")
    reset.click()
    question = other.page.get_by_role("dialog", name="Reset two-factor authentication")
    question.get_by_role("button", name="Reset", exact=True).click()
    expect(reset).to_have_attribute("aria-disabled", "true")
    page.reload()
    desk.sign_in(person.password, email=person.email)
    expect(page.get_by_role("heading", name="Sessions", level=1)).to_be_visible()


def test_sign_up_makes_an_account(carrel: Running, open_desk: Opener) -> None:
    with administrator(carrel) as api:
        me = api.get("/auth/me").json()
    place = {"sign_up_domain": me["user"]["domain"]["id"], "sign_up_project": me["projects"][0]["id"]}
    desk = open_desk(stranger=True)
    page = desk.page
    desk.go("/signin")
    expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="Create account")).to_have_count(0)
    set_site(carrel, sign_up=True, sign_up_verification=False, announcement="Back **soon**", **place)
    try:
        page.reload()
        expect(page.get_by_role("region", name="Announcement").locator("strong")).to_have_text("soon")
        page.get_by_role("link", name="Create account").click()
        expect(page.get_by_role("heading", name="Create account")).to_be_visible()
        newcomer = f"{fresh('newcomer')}@example.org"
        page.get_by_label("E-mail").fill(newcomer)
        page.get_by_label("Name", exact=True).fill("Grace")
        page.get_by_label("Password", exact=True).fill("Another-lantern-42-rivers")
        page.get_by_role("button", name="Create account").click()
        page.get_by_role("link", name="Sign in").click()
        desk.sign_in("Another-lantern-42-rivers", email=newcomer)
        expect(page.get_by_role("heading", level=1)).to_contain_text("Welcome, ")
    finally:
        set_site(carrel, sign_up=False, announcement="")
