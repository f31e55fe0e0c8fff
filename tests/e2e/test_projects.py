"""Projects and domains: made, filled with people, put away; as each role may."""

from playwright.sync_api import expect

from e2e.conftest import Opener
from e2e.desk import Desk
from e2e.people import fresh
from e2e.roles import PASSWORD, Roles


def test_project_is_made_filled_archived_and_restored(desk: Desk, roles: Roles) -> None:
    robot, robotics = roles.make(f"{fresh('robot')}@example.org"), fresh("robotics")
    page = desk.page
    desk.go("/projects")
    page.get_by_role("button", name="New project").click()
    drawer = page.get_by_role("dialog", name="New project")
    drawer.get_by_role("textbox", name="Name", exact=True).fill(robotics)
    drawer.get_by_label("CPU cores: not limited").uncheck()
    drawer.get_by_label("Limit for CPU cores").fill("8")
    expect(
        drawer.get_by_text(f"carrel project create {robotics} --domain default --ceiling cpu=8")
    ).to_be_visible()
    drawer.get_by_role("button", name="Create").click()
    expect(drawer).to_be_hidden()
    expect(desk.row(robotics)).to_contain_text("0 of 8")

    desk.row(robotics).get_by_text(robotics, exact=True).click()
    detail = page.get_by_role("dialog", name=robotics)
    people = detail.get_by_label("Add members")
    people.fill(robot)
    people.press("Enter")
    detail.get_by_role("button", name="Add", exact=True).click()
    admin = detail.get_by_role("switch", name=f"{robot} is an administrator")
    # The box itself lies under its picture.
    admin.click(force=True)
    expect(admin).to_be_checked()
    expect(detail.get_by_role("link", name=robot)).to_be_visible()
    page.keyboard.press("Escape")
    expect(desk.row(robotics)).to_contain_text(robot)

    desk.row(robotics).get_by_role("button", name="Archive").click()
    page.get_by_role("dialog", name="Archive project").get_by_role("button", name="Archive").click()
    expect(desk.row(robotics)).to_have_count(0)
    page.get_by_text("Archived", exact=True).click()
    desk.row(robotics).get_by_role("button", name="Restore").click()
    expect(desk.row(robotics)).to_have_count(0)


def test_unknown_person_is_named_and_stays_to_be_mended(desk: Desk, roles: Roles) -> None:
    desk.go("/projects")
    desk.row(roles.project).get_by_text(roles.project, exact=True).click()
    detail = desk.page.get_by_role("dialog", name=roles.project)
    people = detail.get_by_label("Add members")
    people.fill("nobody@example.org")
    people.press("Enter")
    detail.get_by_role("button", name="Add", exact=True).click()
    expect(detail.get_by_role("alert")).to_contain_text("nobody@example.org")


def test_who_is_taken_out_keeps_what_their_sessions_have_and_that_is_said(desk: Desk, roles: Roles) -> None:
    carrel = roles.carrel.carrel
    leaver = roles.make(f"{fresh('leaver')}@example.org", "--project", roles.project)
    common, leaving = fresh("common"), fresh("leaving")
    as_leaver = ("--profile", "leaver")
    signed_in = carrel(
        "login", roles.carrel.url, "--email", leaver, "--password-stdin", *as_leaver, input=PASSWORD
    )
    assert signed_in.returncode == 0, signed_in.stderr
    assert carrel("vfolder", "create", common, "--project", roles.project).returncode == 0
    wanted = ("--project", roles.project, "--cpu", "0.1", "--mem", "256m", "-v", common)
    began = carrel(
        "session", "create", "--image", "starter", "--name", leaving, *wanted, "--wait", *as_leaver
    )
    assert began.returncode == 0, began.stderr
    desk.go("/projects")
    desk.row(roles.project).get_by_text(roles.project, exact=True).click()
    detail = desk.page.get_by_role("dialog", name=roles.project)
    detail.get_by_role("button", name=f"Remove: {leaver}").click()
    asked = desk.page.get_by_role("dialog", name="Remove member")
    asked.get_by_role("button", name="Remove").click()
    said = detail.get_by_role("alert")
    expect(said).to_contain_text("1 live session keeps the folder mounted until it ends")
    expect(said).to_contain_text(f"{leaving} of {leaver} at /home/work/{common}")
    carrel("session", "rm", leaving, "--yes", *as_leaver)


def test_project_admin_fills_their_project_and_nothing_else(open_desk: Opener, roles: Roles) -> None:
    new = roles.make(f"{fresh('new')}@example.org")
    desk = roles.desk(open_desk, roles.project_admin)
    page = desk.page
    page.get_by_role("link", name="Users").click()
    page.get_by_role("link", name="Projects", exact=True).click()
    expect(page.get_by_role("button", name="New project")).to_have_attribute("aria-disabled", "true")
    desk.row(roles.project).get_by_text(roles.project, exact=True).click()
    detail = page.get_by_role("dialog", name=roles.project)
    expect(detail.get_by_role("button", name="Edit")).to_have_attribute("aria-disabled", "true")
    people = detail.get_by_label("Add members")
    people.fill(new)
    people.press("Enter")
    detail.get_by_role("button", name="Add", exact=True).click()
    expect(detail.get_by_role("switch", name=f"{new} is an administrator")).to_be_attached()


def test_user_sees_no_administration(open_desk: Opener, roles: Roles) -> None:
    desk = roles.desk(open_desk, roles.user)
    expect(desk.page.get_by_role("group", name="People")).to_have_count(0)
    desk.go("/site")
    expect(desk.page.get_by_role("heading", level=1)).to_contain_text("You do not have permission")


def test_domain_is_made_disabled_and_removed(desk: Desk) -> None:
    page, botany = desk.page, fresh("botany")
    desk.go("/domains")
    page.get_by_role("button", name="New domain").click()
    drawer = page.get_by_role("dialog", name="New domain")
    drawer.get_by_role("textbox", name="Name", exact=True).fill(botany)
    drawer.get_by_label("Registries: all").uncheck()
    registries = drawer.get_by_label("Registries", exact=True)
    registries.fill("docker.io")
    registries.press("Enter")
    drawer.get_by_role("button", name="Create").click()
    expect(drawer).to_be_hidden()
    desk.row(botany).get_by_text(botany, exact=True).click()
    expect(page.get_by_role("dialog", name=botany)).to_contain_text("docker.io")
    page.keyboard.press("Escape")

    desk.row(botany).get_by_role("button", name="Disable").click()
    question = page.get_by_role("dialog", name="Disable domain")
    expect(question).to_contain_text("The domain has no users.")
    question.get_by_role("button", name="Disable").click()
    expect(desk.row(botany)).to_have_count(0)
    page.get_by_text("Disabled", exact=True).click()
    desk.row(botany).get_by_role("button", name="Remove").click()
    question = page.get_by_role("dialog", name="Remove domain")
    question.get_by_label(f"Type {botany} to confirm").fill(botany)
    question.get_by_role("button", name="Remove").click()
    expect(page.get_by_text("No domains match the filter")).to_be_visible()
