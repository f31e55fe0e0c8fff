"""Signing in and out."""

from playwright.sync_api import expect

from e2e.conftest import Opener
from e2e.desk import Desk


def test_wrong_password_says_so_and_lets_try_again(open_desk: Opener) -> None:
    desk = open_desk(stranger=True)
    desk.go("/")
    desk.sign_in("not the password")
    alert = desk.page.get_by_role("alert")
    expect(alert).to_contain_text("password")
    expect(alert).to_contain_text("auth.bad_credentials")
    expect(desk.page.get_by_label("Password", exact=True)).to_be_focused()
    desk.sign_in()
    expect(desk.page.get_by_role("heading", level=1)).to_contain_text("Good to see you")


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
    expect(desk.page.get_by_role("heading", level=1)).to_contain_text("Good to see you")
    assert desk.page.url == f"{desk.carrel.url}/"


def test_signed_out_means_out(open_desk: Opener) -> None:
    desk = open_desk(stranger=True)
    desk.go("/")
    desk.sign_in()
    desk.page.get_by_role("button", name="Your menu").click()
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
