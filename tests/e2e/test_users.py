"""People: made, changed, disabled, deleted; seen as each role may."""

from playwright.sync_api import Page, expect

from e2e.conftest import Opener
from e2e.desk import Desk
from e2e.people import fresh
from e2e.roles import PASSWORD, Roles


def _fill_new_user(page: Page, email: str) -> None:
    drawer = page.get_by_role("dialog", name="New user")
    drawer.get_by_label("E-mail").fill(email)
    drawer.get_by_role("textbox", name="Name", exact=True).fill("Ada Lovelace")


def test_generated_password_is_shown_once_and_lets_in(desk: Desk, open_desk: Opener) -> None:
    page, ada = desk.page, f"{fresh('ada')}@example.org"
    desk.go("/users")
    page.get_by_role("button", name="New user").click()
    _fill_new_user(page, ada)
    drawer = page.get_by_role("dialog", name="New user")
    expect(drawer.get_by_text(f"carrel user create {ada}")).to_be_visible()
    drawer.get_by_label("Require a password change").uncheck()
    drawer.get_by_role("button", name="Create").click()
    panel = drawer.get_by_role("alert")
    expect(panel).to_contain_text("Send this password to the user")
    password = next(line for line in panel.inner_text().splitlines() if line.count("-") == 4)
    panel.get_by_role("button", name="I have saved it").click()
    expect(drawer).to_be_hidden()
    expect(desk.row(ada)).to_contain_text("Active")

    other = open_desk(stranger=True)
    other.go("/")
    other.sign_in(password, email=ada)
    expect(other.page.get_by_role("heading", level=1)).to_contain_text("Welcome, ")
    expect(other.page.get_by_role("link", name="Users")).to_have_count(0)


def test_taken_email_is_marked_at_its_field(desk: Desk, roles: Roles) -> None:
    desk.go("/users?make=one")
    _fill_new_user(desk.page, roles.user)
    drawer = desk.page.get_by_role("dialog", name="New user")
    drawer.get_by_role("button", name="Create").click()
    expect(drawer.get_by_role("alert")).to_contain_text("user.email_taken")
    expect(drawer.get_by_label("E-mail")).to_have_attribute("aria-invalid", "true")


def test_sheet_is_checked_before_anybody_is_made(desk: Desk, roles: Roles) -> None:
    page, one, two = desk.page, f"{fresh('sheet')}@example.org", f"{fresh('sheet')}@example.org"
    desk.go("/users?make=many")
    drawer = page.get_by_role("dialog", name="Bulk create users")
    sheet = drawer.get_by_label("CSV with a header row")
    sheet.fill(f"Email,Name,Role\n{one},One,\n{roles.user},Two,\nsheet@example.org,Three,king\n")
    table = drawer.get_by_role("table")
    expect(table.get_by_role("row").filter(has_text=roles.user)).to_contain_text("already exists")
    expect(table.get_by_role("row").filter(has_text=one)).to_contain_text("valid")
    expect(drawer.get_by_text("2 rows have errors")).to_be_visible()
    expect(drawer.get_by_role("button", name="Create 3 users")).to_be_disabled()

    sheet.fill(f"Email,Name\n{one},One\n{two},Two\n")
    expect(drawer.get_by_text("All rows are valid.")).to_be_visible()
    drawer.get_by_role("button", name="Create 2 users").click()
    expect(drawer.get_by_role("status")).to_contain_text("2 users created.")
    with page.expect_download() as saved:
        drawer.get_by_role("button", name="Save as CSV").click()
    lines = saved.value.path().read_text(encoding="utf-8-sig").splitlines()
    assert lines[0] == "email,password,link,link_expires_at"
    assert [line.split(",")[0] for line in lines[1:]] == [one, two]
    assert all(line.split(",")[1].count("-") == 4 for line in lines[1:])
    drawer.get_by_role("button", name="Done").click()
    expect(desk.row(two)).to_be_visible()


def test_unsaved_input_of_forms_for_many_is_asked_about(desk: Desk, roles: Roles) -> None:
    page = desk.page
    asked = page.get_by_role("dialog", name="Discard unsaved changes?")
    desk.go("/users?make=many")
    drawer = page.get_by_role("dialog", name="Bulk create users")
    sheet = drawer.get_by_label("CSV with a header row")
    sheet.fill("email\n")
    page.keyboard.press("Escape")
    asked.get_by_role("button", name="Keep editing").click()
    expect(sheet).to_have_value("email\n")
    drawer.get_by_role("button", name="Close").click()
    asked.get_by_role("button", name="Discard changes").click()
    expect(drawer).to_be_hidden()

    desk.go(f"/users?q={roles.user}")
    desk.row(roles.user).get_by_role("checkbox").check()
    page.get_by_role("button", name="Edit…").click()
    dialog = page.get_by_role("dialog", name="Edit users")
    dialog.get_by_role("combobox", name="State").click()
    page.get_by_role("option", name="Inactive").click()
    dialog.get_by_role("button", name="Close").click()
    asked.get_by_role("button", name="Keep editing").click()
    expect(dialog.get_by_role("combobox", name="State")).to_have_value("Inactive")
    # The Cancel button of a form does not ask.
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_be_hidden()
    expect(asked).to_be_hidden()


def test_pattern_shows_first_and_last(desk: Desk) -> None:
    desk.go("/users?make=many")
    drawer = desk.page.get_by_role("dialog", name="Bulk create users")
    drawer.get_by_text("From a pattern").click()
    drawer.get_by_label("Prefix").fill("pat")
    drawer.get_by_label("E-mail domain").fill("example.org")
    drawer.get_by_label("Number of users").fill("12")
    expect(drawer.get_by_text("pat01@example.org").first).to_be_visible()
    expect(drawer.get_by_text("pat12@example.org").first).to_be_visible()
    expect(drawer.get_by_role("button", name="Create 12 users")).to_be_enabled()


def test_disabling_signs_out_and_purging_needs_the_typed_email(
    desk: Desk, open_desk: Opener, roles: Roles
) -> None:
    leaver = roles.make(f"{fresh('leaver')}@example.org", "--project", roles.project)
    other = open_desk(stranger=True)
    other.go("/")
    other.sign_in(PASSWORD, email=leaver)
    expect(other.page.get_by_role("heading", level=1)).to_contain_text("Welcome, ")

    other.page.get_by_role("link", name="Sessions", exact=True).click()
    started = other.page.evaluate(
        """async () => {
            const me = await (await fetch("/api/v1/auth/me")).json();
            const headers = {"Content-Type": "application/json", "X-Carrel-CSRF": me.csrf_token};
            const body = JSON.stringify({name: "left_behind", image: "starter", slots: {cpu: 100, mem: 268435456}});
            return (await fetch("/api/v1/sessions", {method: "POST", headers, body})).status;
        }"""
    )
    assert started == 201

    page = desk.page
    desk.go(f"/users?q={leaver}")
    row = desk.row(leaver)
    refused = row.get_by_role("button", name="Delete permanently")
    expect(refused).to_have_attribute("aria-disabled", "true")
    expect(refused).to_have_accessible_name(
        f"Delete permanently: {leaver}. Deactivate the user before you delete it permanently."
    )
    row.get_by_role("button", name=f"Deactivate: {leaver}").click()
    question = page.get_by_role("dialog", name="Deactivate user")
    question.get_by_label("Terminate now").check()
    expect(question.get_by_text(f"carrel user disable {leaver} --sessions end")).to_be_visible()
    question.get_by_role("button", name="Deactivate").click()
    expect(row).to_contain_text("Inactive")
    desk.go(f"/sessions?owner={leaver}&state=all")
    desk.expect_state("left_behind", "Terminated")
    desk.go(f"/users?q={leaver}")
    other.page.reload()
    expect(other.page.get_by_label("E-mail")).to_be_visible()

    row.get_by_role("button", name="Delete permanently").click()
    question = page.get_by_role("dialog", name="Delete permanently")
    confirm = question.get_by_role("button", name="Delete permanently")
    expect(confirm).to_be_disabled()
    expect(question.get_by_text(f"carrel user purge {leaver}")).to_be_visible()
    question.get_by_label(f"Type {leaver} to confirm").fill(leaver)
    confirm.click()
    expect(page.get_by_text("No users match the filter")).to_be_visible()


def test_several_are_changed_at_once(desk: Desk, roles: Roles) -> None:
    crowd = fresh("crowd")
    one, two = (roles.make(f"{crowd}-{number}@example.org") for number in (1, 2))
    page = desk.page
    desk.go(f"/users?q={crowd}-")
    expect(desk.row(two)).to_be_visible()
    page.get_by_label("Select all").check()
    page.get_by_role("button", name="Edit…").click()
    dialog = page.get_by_role("dialog", name="Edit users")
    dialog.get_by_label("Add to projects").click()
    page.get_by_role("option", name=roles.project).click()
    page.keyboard.press("Escape")
    dialog.get_by_role("button", name="Save").click()
    for person in (one, two):
        expect(desk.row(person)).to_contain_text(roles.project)

    # Whoever moves to another domain leaves the projects of the former.
    row = desk.row(one)
    row.get_by_role("button", name="Edit").click()
    form = page.get_by_role("dialog", name=f"Edit {one}")
    form.get_by_role("combobox", name="Domain").click()
    page.get_by_role("option", name=roles.domain).click()
    form.get_by_role("button", name="Save").click()
    expect(form).to_be_hidden()
    expect(row).to_contain_text(roles.domain)
    expect(row).not_to_contain_text(roles.project)


def test_keypair_gets_its_own_limit_of_requests_and_the_usual_one_again(desk: Desk) -> None:
    key = desk.carrel.environment["CARREL_ACCESS_KEY"]
    desk.go(f"/users/keypairs?q={key}")
    row = desk.row(key)
    for limit, shown in (("20000", "20000"), (None, "default")):
        row.get_by_role("button", name="Rate limit").click()
        form = desk.page.get_by_role("dialog", name="Rate limit")
        form.get_by_label("Site default").set_checked(limit is None)
        if limit:
            form.get_by_label("Requests in 15 minutes").fill(limit)
        expect(form.get_by_text(f"carrel keypair update {key} --rate-limit {limit or 0}")).to_be_visible()
        form.get_by_role("button", name="Save").click()
        expect(form).to_be_hidden()
        expect(row).to_contain_text(shown)


def test_list_is_live(desk: Desk, roles: Roles) -> None:
    sudden = f"{fresh('sudden')}@example.org"
    desk.go(f"/users?q={sudden}")
    expect(desk.page.get_by_text("No users match the filter")).to_be_visible()
    roles.make(sudden)
    expect(desk.row(sudden)).to_be_visible()


def test_domain_admin_keeps_to_their_domain(open_desk: Opener, roles: Roles) -> None:
    desk = roles.desk(open_desk, roles.domain_admin)
    desk.go("/users")
    expect(desk.row(roles.domain_user)).to_be_visible()
    expect(desk.page.get_by_text(roles.user, exact=True)).to_have_count(0)
    expect(desk.page.get_by_role("link", name="Configuration")).to_have_count(0)
    refused = desk.row(roles.domain_user).get_by_role("button", name="Delete permanently")
    expect(refused).to_have_accessible_name(
        f"Delete permanently: {roles.domain_user}. Superadmins only: Permanently delete an inactive user."
    )
    desk.page.get_by_role("button", name="New user").click()
    role = desk.page.get_by_role("dialog", name="New user").get_by_role("combobox", name="Role")
    expect(role).to_be_disabled()


def test_phone_shows_people_as_cards(open_desk: Opener, roles: Roles) -> None:
    desk = open_desk(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    desk.go(f"/users?q={roles.user}")
    card = desk.page.get_by_role("article").filter(has_text=roles.user)
    expect(card).to_contain_text("Active")
    card.get_by_text(roles.user).first.tap()
    expect(desk.page.get_by_role("dialog", name=roles.user)).to_contain_text("Two-factor authentication")
    assert desk.page.evaluate("document.documentElement.scrollWidth") <= 390
