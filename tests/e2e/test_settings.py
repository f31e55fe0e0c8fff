"""One's own settings: password, second step, passkeys, keypairs, tokens, SSH keys, sign-ins, preferences."""

import json
import re

import pyotp
from playwright.sync_api import Download, Page, Route, expect

from e2e.conftest import Opener
from e2e.desk import Desk
from e2e.people import PASSWORD, Person, make_person, status_with
from e2e.running import Running

FRESH = "Another-lantern-42-rivers"


def _signed_in(open_desk: Opener, person: Person, path: str, **options: object) -> Desk:
    desk = open_desk(stranger=True, **options)
    desk.go(path)
    desk.sign_in(person.password, email=person.email)
    expect(desk.page).to_have_url(re.compile(re.escape(path)))
    return desk


def _stale(page: Page, times: int) -> None:
    """Let so many new keypairs be answered as if the last proof were long ago."""
    body = json.dumps(
        {"code": "auth.confirm_needed", "title": "Forbidden", "status": 403, "detail": "Prove it."}
    )
    left = iter(range(times))

    def answer(route: Route) -> None:
        if route.request.method == "POST" and next(left, None) is not None:
            route.fulfill(status=403, content_type="application/problem+json", body=body)
        else:
            route.continue_()

    page.route("**/api/v1/keypairs", answer)


def test_password_is_changed_and_others_are_signed_out(carrel: Running, open_desk: Opener) -> None:
    person = make_person(carrel)
    desk = _signed_in(open_desk, person, "/settings/password")
    other = _signed_in(open_desk, person, "/settings/profile")
    page = desk.page
    page.get_by_label("Current password").fill("not this one")
    page.get_by_label("New password", exact=True).fill(FRESH)
    page.get_by_label("Repeat new password").fill(FRESH)
    page.get_by_role("button", name="Change password").click()
    expect(page.get_by_role("alert").first).to_contain_text("current password is wrong")
    page.get_by_label("Current password").fill(PASSWORD)
    page.get_by_role("button", name="Change password").click()
    expect(page.get_by_text("Password changed")).to_be_visible()
    desk.go("/settings/profile")
    expect(page.get_by_role("heading", name="Profile", level=1)).to_be_visible()
    other.go("/settings/profile")
    expect(other.page.get_by_label("E-mail")).to_be_visible()
    other.sign_in(FRESH, email=person.email)
    expect(other.page.get_by_role("heading", name="Profile", level=1)).to_be_visible()


def test_app_and_recovery_codes_are_a_second_step(carrel: Running, open_desk: Opener) -> None:
    person = make_person(carrel)
    desk = _signed_in(open_desk, person, "/settings/two-factor")
    page = desk.page
    page.get_by_role("button", name="Set up", exact=True).click()
    expect(page.get_by_role("img", name="QR code with the secret")).to_be_visible()
    secret = page.locator("[data-secret]")
    expect(secret).not_to_have_text("…")
    app = pyotp.TOTP(secret.inner_text().replace(" ", ""))
    page.get_by_label("Code from the app").fill("000000")
    page.get_by_role("button", name="Turn on").click()
    expect(page.get_by_role("alert").first).to_contain_text("not valid now")
    first = app.now()
    page.get_by_label("Code from the app").fill(first)
    page.get_by_role("button", name="Turn on").click()
    shown = page.get_by_role("list", name="Recovery codes").get_by_role("listitem")
    expect(shown).to_have_count(10)
    codes = shown.all_inner_texts()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download").click()
    assert _text(saved.value).split() == codes
    page.get_by_label("I have saved the codes").check()
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("You have 10 codes left.")).to_be_visible()

    other = open_desk(stranger=True)
    other.go("/settings/two-factor")
    other.sign_in(person.password, email=person.email)
    expect(other.page.get_by_role("heading", name="Two-factor authentication")).to_be_visible()
    other.page.reload()
    # The code of the app was used for setting it up, so a recovery code it is; the next one would do too.
    other.page.get_by_label("Authentication code").fill(first)
    other.page.get_by_role("button", name="Continue").click()
    expect(other.page.get_by_role("alert")).to_contain_text("wrong or already used")
    other.page.get_by_role("button", name="Use a recovery code").click()
    other.page.get_by_label("Recovery code").fill(codes[0])
    other.page.get_by_role("button", name="Continue").click()
    expect(other.page.get_by_text("You have 9 codes left.")).to_be_visible()

    third = open_desk(stranger=True)
    third.go("/settings/two-factor")
    third.sign_in(person.password, email=person.email)
    ahead = app.generate_otp(_now(third.page) // 30 + 1)
    third.page.get_by_label("Authentication code").fill(ahead)
    third.page.get_by_role("button", name="Continue").click()
    expect(third.page.get_by_text("You have 9 codes left.")).to_be_visible()

    third.page.get_by_role("button", name="Turn off…").click()
    third.page.get_by_role("button", name="Turn off", exact=True).click()
    expect(third.page.get_by_role("button", name="Set up", exact=True)).to_be_visible()


def test_passkey_is_made_and_signs_in_alone(carrel: Running, open_desk: Opener) -> None:
    person = make_person(carrel)
    desk = _signed_in(open_desk, person, "/settings/passkeys")
    page = desk.page
    _plug_in_authenticator(page)
    page.get_by_role("button", name="New passkey").click()
    page.get_by_label("Name", exact=True).fill("Test key")
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("I have saved the codes").check()
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("Test key", exact=True)).to_be_visible()
    page.get_by_role("button", name="Rename: Test key").click()
    page.get_by_label("Name", exact=True).fill("Desk key")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Desk key", exact=True)).to_be_visible()

    page.get_by_role("button", name="User menu").click()
    page.get_by_role("menuitem", name="Sign out").click()
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Welcome, ")

    # As the second step after the password, too.
    page.get_by_role("button", name="User menu").click()
    page.get_by_role("menuitem", name="Sign out").click()
    desk.sign_in(person.password, email=person.email)
    page.get_by_role("button", name="Use a passkey").click()
    page.get_by_role("button", name="Use passkey").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Welcome, ")

    desk.go("/settings/passkeys")
    page.get_by_role("button", name="Remove: Desk key").click()
    page.get_by_role("button", name="Remove", exact=True).click()
    expect(page.get_by_text("You have no passkeys")).to_be_visible()


def test_token_of_the_page_reaches_what_was_chosen_and_no_more(carrel: Running, open_desk: Opener) -> None:
    person = make_person(carrel)
    desk = _signed_in(open_desk, person, "/settings/tokens")
    page = desk.page
    page.get_by_role("button", name="New token").click()
    drawer = page.get_by_role("dialog", name="New token")
    drawer.get_by_label("Name").fill("nightly report")
    expect(drawer).to_contain_text("carrel token create 'nightly report'")
    drawer.get_by_role("button", name="Create token").click()
    token = page.get_by_text(re.compile(r"^carrel_[\w-]+$"))
    secret = token.inner_text()
    assert status_with(carrel, secret, "/sessions") == 200
    assert status_with(carrel, secret, "/keypairs", method="POST") == 403
    page.get_by_role("button", name="I have saved it").click()
    expect(token).to_have_count(0)
    row = desk.row("nightly report")
    expect(row).to_contain_text("Sign-ins: read")
    row.get_by_text("Sign-ins: read").hover()
    expect(page.get_by_role("tooltip")).to_contain_text("login.read")
    desk.row("nightly report").get_by_role("button", name="Revoke").click()
    page.get_by_role("button", name="Revoke", exact=True).click()
    expect(page.get_by_text("You have no tokens")).to_be_visible()
    assert status_with(carrel, secret, "/sessions") == 401


def test_keypair_is_named_rotated_and_put_out_of_use(carrel: Running, open_desk: Opener) -> None:
    person = make_person(carrel)
    desk = _signed_in(open_desk, person, "/settings/keypairs")
    page = desk.page
    page.get_by_role("button", name="Create keypair").click()
    drawer = page.get_by_role("dialog", name="Create keypair")
    drawer.get_by_label("Name").fill("ci")
    expect(drawer).to_contain_text("carrel keypair create --name ci")
    drawer.get_by_role("button", name="Create keypair").click()
    expect(page.get_by_text("Copy the secret key now")).to_be_visible()
    page.get_by_role("button", name="I have saved it").click()
    page.get_by_role("button", name="Deactivate: ci").click()
    expect(desk.row("ci")).to_contain_text("inactive")
    page.get_by_role("button", name="Activate: ci").click()
    expect(desk.row("ci")).not_to_contain_text("inactive")
    page.get_by_role("button", name="Regenerate secret key: ci").click()
    page.get_by_role("button", name="Regenerate secret key", exact=True).click()
    expect(page.get_by_text("Copy the secret key now")).to_be_visible()
    page.get_by_role("button", name="Rename: ci").click()
    page.get_by_role("dialog", name="Rename keypair").get_by_label("Name").fill("builds")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("button", name="Delete: builds").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("You have no keypairs")).to_be_visible()


def test_dangerous_change_asks_who_it_is_and_goes_on(carrel: Running, open_desk: Opener) -> None:
    person = make_person(carrel)
    desk = _signed_in(open_desk, person, "/settings/keypairs?form=new")
    page = desk.page
    _stale(page, times=2)
    drawer = page.get_by_role("dialog", name="Create keypair")
    drawer.get_by_label("Name").fill("late")
    drawer.get_by_role("button", name="Create keypair").click()
    question = page.get_by_role("dialog", name="Confirm your identity")
    question.get_by_label("Password", exact=True).press("Escape")
    expect(drawer.get_by_role("alert")).to_contain_text("auth.confirm_needed")
    drawer.get_by_role("button", name="Create keypair").click()
    question.get_by_label("Password", exact=True).fill("wrong")
    question.get_by_role("button", name="Confirm").click()
    expect(question.get_by_role("alert")).to_contain_text("password is wrong")
    question.get_by_label("Password", exact=True).fill(person.password)
    question.get_by_role("button", name="Confirm").click()
    expect(page.get_by_text("Copy the secret key now")).to_be_visible()
    expect(desk.row("late")).to_be_visible()


def test_ssh_key_pair_is_made_and_its_private_half_saved(carrel: Running, open_desk: Opener) -> None:
    person = make_person(carrel)
    desk = _signed_in(open_desk, person, "/settings/ssh-keys?form=new")
    page = desk.page
    page.get_by_label("Name", exact=True).fill("laptop")
    page.get_by_label("Public key").fill("not a key")
    page.get_by_role("button", name="Add key").click()
    expect(page.get_by_role("alert")).to_contain_text("not a public SSH key")
    page.get_by_text("Generate a key pair").click()
    page.get_by_role("button", name="Generate key pair").click()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download").click()
    assert saved.value.suggested_filename.startswith("carrel-laptop")
    assert "OPENSSH PRIVATE KEY" in _text(saved.value)
    expect(desk.row("laptop")).to_contain_text("SHA256:")
    page.get_by_role("button", name="Remove: laptop").click()
    page.get_by_role("button", name="Remove", exact=True).click()
    expect(page.get_by_text("You have no SSH keys")).to_be_visible()


def test_other_browsers_are_signed_out(carrel: Running, open_desk: Opener) -> None:
    person = make_person(carrel)
    other = _signed_in(open_desk, person, "/settings/profile")
    desk = _signed_in(open_desk, person, "/settings/sign-ins")
    page = desk.page
    expect(page.get_by_text("this browser")).to_have_count(1)
    expect(page.get_by_text("2 sign-ins")).to_be_visible()
    page.get_by_role("button", name="Sign out all other browsers").click()
    page.get_by_role("dialog").get_by_role("button", name="Sign out all other browsers").click()
    expect(page.get_by_text("1 sign-in", exact=True)).to_be_visible()
    other.page.get_by_role("link", name="Keypairs").click()
    expect(other.page.get_by_label("E-mail")).to_be_visible()


def test_preferences_follow_the_person_to_another_browser(carrel: Running, open_desk: Opener) -> None:
    person = make_person(carrel)
    desk = _signed_in(open_desk, person, "/settings/preferences")
    page = desk.page
    page.get_by_text("Dark", exact=True).click()
    page.get_by_role("combobox", name="Language").click()
    page.get_by_role("option", name="한국어").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("환경설정")

    other = open_desk(stranger=True)
    other.go("/settings/preferences")
    other.sign_in(person.password, email=person.email)
    expect(other.page.get_by_role("heading", level=1)).to_have_text("환경설정")
    expect(other.page.locator("html")).to_have_attribute("data-mantine-color-scheme", "dark")


def test_unsaved_settings_are_asked_about(carrel: Running, open_desk: Opener) -> None:
    desk = _signed_in(open_desk, make_person(carrel), "/settings/profile")
    page = desk.page
    page.get_by_label("Name").fill("Half done")
    page.get_by_role("link", name="Preferences").click()
    page.get_by_role("button", name="Keep editing").click()
    expect(page.get_by_label("Name")).to_have_value("Half done")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Name changed.")).to_be_visible()
    page.get_by_role("link", name="Preferences").click()
    expect(page.get_by_role("heading", name="Preferences", level=1)).to_be_visible()


def test_own_activity_tells_what_was_done(carrel: Running, open_desk: Opener) -> None:
    person = make_person(carrel)
    desk = _signed_in(open_desk, person, "/settings/profile")
    page = desk.page
    page.get_by_label("Name").fill("Countess Lovelace")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Name changed")).to_be_visible()
    page.get_by_role("link", name="My activity").click()
    expect(page.get_by_role("row").filter(has_text="Changed the name of")).to_contain_text("you")
    page.get_by_text("Refused", exact=True).click()
    expect(page).to_have_url(re.compile("outcome=refused"))
    expect(page.get_by_text("No activity matches the filter")).to_be_visible()


def _text(download: Download) -> str:
    return download.path().read_text()


def _now(page: Page) -> int:
    """The time of the machine under test, in seconds."""
    return int(page.evaluate("Math.floor(Date.now() / 1000)"))


def _plug_in_authenticator(page: Page) -> None:
    """A device that makes passkeys and verifies its person, as long as the page's tab lives."""
    tools = page.context.new_cdp_session(page)
    tools.send("WebAuthn.enable")
    tools.send(
        "WebAuthn.addVirtualAuthenticator",
        {
            "options": {
                "protocol": "ctap2",
                "transport": "internal",
                "hasResidentKey": True,
                "hasUserVerification": True,
                "isUserVerified": True,
                "automaticPresenceSimulation": True,
            }
        },
    )


def test_configuration_is_found_by_search_and_contents(desk: Desk) -> None:
    page = desk.page
    desk.go("/site")
    headings = page.get_by_role("main").get_by_role("heading", level=2)
    expect(headings.filter(has_text="Mail")).to_be_visible()
    page.get_by_role("searchbox", name="Search settings").fill("idle time")
    expect(headings).to_have_text(["Sign-in sessions"])
    page.get_by_role("searchbox", name="Search settings").fill("no such setting")
    expect(page.get_by_role("status").filter(has_text="No setting matches")).to_be_visible()
    page.get_by_role("searchbox", name="Search settings").fill("")
    contents = page.get_by_role("navigation", name="Sections")
    contents.get_by_role("button", name="Mail", exact=True).click()
    expect(page.get_by_label("Mail server", exact=True)).to_be_focused()
    expect(page.get_by_label("Mail server", exact=True)).to_be_in_viewport()


def test_configuration_speaks_of_days_and_hours(desk: Desk) -> None:
    page = desk.page
    desk.go("/site")
    amount = page.get_by_label("Idle time-out", exact=True)
    expect(amount).to_have_value("3")
    expect(page.get_by_text("Default: 3 days")).to_be_visible()
    amount.fill("5")
    expect(page.get_by_text("login_idle_minutes=7200")).to_be_visible()


def test_notifications_are_chosen_and_a_webhook_shows_its_deliveries(
    carrel: Running, open_desk: Opener
) -> None:
    person = make_person(carrel)
    page = _signed_in(open_desk, person, "/settings/notifications").page
    mail = page.get_by_role("checkbox", name="A session has failed: E-mail")
    expect(mail).not_to_be_checked()
    mail.check()
    expect(page.get_by_role("checkbox", name="A session has failed: Page")).to_be_checked()
    page.get_by_role("button", name="Add webhook").click()
    page.get_by_label("Name", exact=True).fill("chat")
    page.get_by_label("URL", exact=True).fill("http://127.0.0.1:9/hook")
    page.get_by_role("button", name="Add webhook").click()
    expect(page.get_by_text("whsec_")).to_be_visible()
    page.get_by_role("button", name="I have saved it").click()
    expect(page.get_by_text("whsec_")).to_have_count(0)
    card = page.get_by_role("region", name="chat")
    card.get_by_role("button", name="Send test").click()
    row = card.get_by_role("row").nth(1)
    expect(row).to_contain_text("127.0.0.1 is a private address", timeout=15_000)
    expect(row).to_contain_text("Pending")
    page.reload()
    expect(mail).to_be_checked()
    card.get_by_role("button", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(card).to_have_count(0)
