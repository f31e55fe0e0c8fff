"""Who did what, the settings of the installation, and identity providers."""

import json
import re
from pathlib import Path

from own_openid_provider import CLIENT, SECRET, OpenIdProvider, open_id_provider
from playwright.sync_api import Locator, expect

from e2e.conftest import Opener
from e2e.desk import Desk
from e2e.people import fresh
from e2e.roles import Roles


def test_change_is_found_with_what_was_before_and_after(desk: Desk, roles: Roles) -> None:
    page = desk.page
    done = desk.carrel.carrel("user", "update", roles.user, "--name", "Uma Thurber")
    assert done.returncode == 0, done.stderr
    desk.go("/audit?action=user.update")
    page.get_by_role("row").filter(has_text=roles.user).first.click()
    entry = page.get_by_role("dialog")
    changed = entry.get_by_role("table", name="Changes").get_by_role("row").filter(has_text="name")
    expect(changed).to_contain_text("Uma Thurber")
    expect(changed).to_contain_text("Uma")
    # The address says which entry it is, to somebody whose list does not hold it either.
    opened = re.search(r"open=%22?(\d+)|open=(\d+)", page.url)
    assert opened, page.url
    desk.go(f"/audit?action=domain.create&open={opened[1] or opened[2]}")
    expect(changed).to_contain_text("Uma Thurber")
    entry.get_by_role("link", name=roles.user).click()
    expect(page.get_by_role("dialog", name=roles.user)).to_be_visible()


def test_entry_tells_what_happened_in_words(desk: Desk, roles: Roles) -> None:
    page, name = desk.page, fresh("ceil")
    for words in (["create", name, "--ceiling", "cpu=1"], ["update", name, "--ceiling", "cpu=4"]):
        done = desk.carrel.carrel("project", *words)
        assert done.returncode == 0, done.stderr
    desk.go(f"/audit?q={name}")
    expect(page.get_by_role("row").filter(has_text=f"Created the project {name}")).to_be_visible()
    raised = f"Raised the CPU limit of {name} from 1 to 4"
    page.get_by_role("row").filter(has_text=raised).click()
    entry = page.get_by_role("dialog", name=raised)
    expect(entry.get_by_text('"ceilings"')).to_be_hidden()
    entry.get_by_role("button", name="Show details").click()
    expect(entry.get_by_text('"ceilings"')).to_be_visible()


def test_refused_entry_says_why_in_its_row(desk: Desk, roles: Roles) -> None:
    refused = desk.carrel.carrel("project", "create", "default")
    assert refused.returncode != 0
    desk.go("/audit?outcome=refused&action=project.create")
    row = desk.page.get_by_role("row").filter(has_text="Create: project").first
    expect(row).to_contain_text("The domain has a project named default.")
    expect(row.locator("[data-state=refused] svg")).to_be_visible()
    desk.go("/settings/activity?outcome=refused")
    own = desk.page.get_by_role("row").filter(has_text="Create: project").first
    expect(own.locator("[data-state=refused] svg")).to_be_visible()


def test_actions_are_grouped_by_name_and_periods_are_a_choice(desk: Desk, roles: Roles) -> None:
    page = desk.page
    desk.go("/audit")
    page.get_by_role("combobox", name="Any action").click()
    nodes = page.get_by_role("group", name="Nodes")
    expect(nodes.get_by_role("option")).to_have_text(["All actions", "Change"])
    page.get_by_role("group", name="Users").get_by_role("option", name="Create", exact=True).click()
    expect(page).to_have_url(re.compile("action=user.create"))
    expect(page.get_by_role("combobox", name="Any action")).to_have_value("Users: Create")
    page.get_by_role("combobox", name="Time range").click()
    page.get_by_role("option", name="Last hour").click()
    expect(page).to_have_url(re.compile("span=hour"))
    expect(page.get_by_role("row").filter(has_text=roles.user).first).to_be_visible()
    page.get_by_role("combobox", name="Time range").click()
    page.get_by_role("option", name="Custom…").click()
    until = page.get_by_label("Until", exact=True)
    until.fill("2020/1/31")
    expect(page.get_by_text("No entries match the filter")).to_be_visible()
    page.get_by_label("From", exact=True).focus()
    expect(until).to_have_value("2020-01-31")

    # The calendar starts at the typed date.
    page.get_by_role("button", name="Calendar: Until").click()
    later = page.get_by_role("button", name="Next month")
    expect(later).to_have_count(1)
    later.click()
    page.get_by_role("button", name="29 February 2020", exact=True).click()
    expect(until).to_have_value("2020-02-29")
    until.fill("2999-12-31")
    expect(page.get_by_role("row").filter(has_text=roles.user).first).to_be_visible()
    until.fill("")
    expect(page).not_to_have_url(re.compile("to="))


def test_dates_are_chosen_by_the_keyboard_alone(desk: Desk) -> None:
    page = desk.page

    def day(number: int) -> Locator:
        return page.get_by_role("button", name=f"{number} February 2020", exact=True)

    desk.go("/audit?span=custom")
    until = page.get_by_label("Until", exact=True)
    calendar = page.get_by_role("button", name="Calendar: Until")
    until.fill("2020-02-28")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Clear: Until")).to_be_focused()
    page.keyboard.press("Tab")
    expect(calendar).to_be_focused()
    page.keyboard.press("Enter")
    expect(day(28)).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(day(29)).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(day(22)).to_be_focused()
    page.keyboard.press("Enter")
    expect(until).to_have_value("2020-02-22")
    expect(page).to_have_url(re.compile("to=2020"))
    expect(calendar).to_be_focused()
    expect(day(22)).to_have_count(0)

    until.press("Alt+ArrowDown")
    expect(day(22)).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(day(21)).to_be_focused()
    page.keyboard.press("Escape")
    expect(until).to_be_focused()
    expect(until).to_have_value("2020-02-22")


def test_trail_grows_while_it_is_looked_at(desk: Desk, roles: Roles) -> None:
    watched = f"{fresh('watched')}@example.org"
    desk.go(f"/audit?action=user.create&q={watched}")
    expect(desk.page.get_by_text("No entries match the filter")).to_be_visible()
    roles.make(watched)
    expect(desk.page.get_by_role("row").filter(has_text=watched)).to_be_visible()


def test_file_holds_what_the_filter_finds(desk: Desk, roles: Roles) -> None:
    page = desk.page
    desk.go(f"/audit?action=user.create&q={roles.user}")
    expect(page.get_by_role("row").filter(has_text=roles.user)).to_be_visible()
    page.get_by_role("button", name="Download").click()
    with page.expect_download() as saved:
        page.get_by_role("menuitem", name="JSON lines").click()
    lines = saved.value.path().read_text().splitlines()
    assert lines
    assert all(roles.user in json.dumps(json.loads(line)) for line in lines)


def test_chain_is_verified(desk: Desk, roles: Roles) -> None:
    desk.go("/audit")
    desk.page.get_by_role("button", name="Verify audit trail").click()
    expect(desk.page.get_by_text("The audit trail is intact")).to_be_visible()


def test_domain_admin_sees_their_domain_and_cannot_verify(open_desk: Opener, roles: Roles) -> None:
    desk = roles.desk(open_desk, roles.domain_admin)
    desk.page.get_by_role("link", name="Audit").click()
    expect(desk.page.get_by_role("row").filter(has_text=roles.domain_admin).first).to_be_visible()
    expect(desk.page.get_by_role("row").filter(has_text=roles.user)).to_have_count(0)
    expect(desk.page.get_by_role("button", name="Verify audit trail")).to_have_count(0)


def test_only_changed_settings_are_saved_and_the_default_is_a_click_away(desk: Desk) -> None:
    page = desk.page
    desk.go("/site")
    field = page.get_by_label("Lockout duration", exact=True)
    field.fill("30")
    expect(page.get_by_text("carrel site set lock_minutes=30")).to_be_visible()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Saved. The settings are in effect.")).to_be_visible()
    page.reload()
    expect(field).to_have_value("30")
    lock = page.locator(".mantine-InputWrapper-root").filter(has=field)
    lock.get_by_role("button", name="Reset to default").click()
    expect(field).to_have_value("20")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("1 unsaved change.")).to_have_count(0)


def test_settings_that_do_not_go_together_are_marked(desk: Desk) -> None:
    page = desk.page
    desk.go("/site")
    page.get_by_label("Mail server", exact=True).fill("smtp.example.org")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("site.mail_sender")
    expect(page.get_by_label("From address")).to_have_attribute("aria-invalid", "true")


def test_announcement_is_seen_by_everybody_until_dismissed(
    desk: Desk, open_desk: Opener, roles: Roles
) -> None:
    desk.go("/site")
    text = desk.page.get_by_label("Markdown")
    text.fill("**Closed** on Friday <script>alert(1)</script>")
    expect(desk.page.get_by_role("region", name="Preview").locator("strong")).to_have_text("Closed")
    desk.page.get_by_role("button", name="Save", exact=True).click()
    expect(desk.page.get_by_text("Saved. The settings are in effect.")).to_be_visible()

    other = roles.desk(open_desk, roles.user)
    banner = other.page.get_by_role("complementary", name="Announcement")
    expect(banner).to_contain_text("Closed on Friday <script>")
    banner.get_by_role("button", name="Dismiss announcement").click()
    expect(banner).to_have_count(0)
    other.page.reload()
    expect(other.page.get_by_role("heading", level=1)).to_be_visible()
    expect(banner).to_have_count(0)

    text.fill("")
    desk.page.get_by_role("button", name="Save", exact=True).click()
    expect(desk.page.get_by_role("complementary", name="Announcement")).to_have_count(0)


def test_provider_is_set_up_says_what_fails_and_lets_in(
    desk: Desk, open_desk: Opener, tmp_path: Path
) -> None:
    corp, email = fresh("corp"), f"{fresh('ada')}@corp.example"
    back = f"{desk.carrel.url}/api/v1/auth/providers/{corp}/callback"
    with open_id_provider(tmp_path / "provider", redirect_uris=[back]) as there:
        there.accounts["ada"] = {"email": email, "email_verified": True, "name": "Ada Lovelace"}
        there.write()
        try:
            _set_up_and_sign_in(desk, open_desk(stranger=True), there, corp, email)
        finally:
            desk.carrel.carrel("provider", "rm", corp, "--yes")


def _set_up_and_sign_in(desk: Desk, other: Desk, there: OpenIdProvider, corp: str, email: str) -> None:
    page = desk.page
    there.stop()
    desk.go("/providers")
    page.get_by_role("button", name="New provider").click()
    drawer = page.get_by_role("dialog", name="New identity provider")
    drawer.get_by_role("textbox", name="Name", exact=True).fill(corp)
    drawer.get_by_label("Issuer").fill(there.issuer)
    drawer.get_by_label("Client ID").fill(CLIENT)
    drawer.get_by_label("Client secret").fill(SECRET)
    expect(drawer.get_by_text(f"carrel provider add oidc {corp}")).not_to_contain_text(SECRET)
    drawer.get_by_role("button", name="Create", exact=True).click()
    detail = page.get_by_role("dialog", name=corp)
    expect(detail).to_contain_text("Redirect URI")
    detail.get_by_role("button", name="Test now").click()
    expect(detail.get_by_role("status")).to_contain_text("The test failed.")
    there.start()
    detail.get_by_role("button", name="Test now").click()
    expect(detail.get_by_role("status")).to_contain_text("The test succeeded.")

    other.go("/settings/profile")
    other.page.get_by_role("link", name=f"Sign in with {corp}").click()
    other.page.locator("[name=login]").fill("ada")
    other.page.locator("[name=password]").fill("any")
    other.page.get_by_role("button", name="Sign-in").click()
    other.page.get_by_role("button", name="Continue").click()
    expect(other.page).to_have_url(f"{desk.carrel.url}/settings/profile")
    expect(other.page.get_by_text(email).first).to_be_visible()

    detail.get_by_role("button", name="Remove…").click()
    question = page.get_by_role("dialog", name="Remove identity provider")
    question.get_by_label(f"Type {corp} to confirm").fill(corp)
    question.get_by_role("button", name="Remove").click()
    expect(page.get_by_text("No identity providers")).to_be_visible()
