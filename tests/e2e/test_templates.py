"""Templates on the page: saved from a session, given a parameter, shared, and started by somebody else."""

import json
import re
from pathlib import Path

from playwright.sync_api import Locator, expect

from e2e.conftest import Opener
from e2e.desk import STARTS_MS, Desk
from e2e.people import fresh, make_person


def start(desk: Desk, name: str) -> Locator:
    """The form of a start, opened by a click on the template."""
    desk.go("/templates")
    desk.row(name).get_by_text(name, exact=True).click()
    return desk.page.get_by_role("dialog", name=f"Start {name}")


def test_a_session_becomes_a_shared_template_that_a_member_starts(desk: Desk, open_desk: Opener) -> None:
    page, session, template = desk.page, fresh("source_of_template"), fresh("shared_template")
    small = ("--cpu", "0.25", "--mem", "256m", "--env", "GREETING=hello ${NAME}")
    desk.carrel.carrel("session", "create", *small, "--name", session, "--wait")
    try:
        # Save a running session.
        desk.go("/sessions")
        desk.detail(session).get_by_role("button", name="Save as template…").click()
        saving = page.get_by_role("dialog", name="Save as template")
        saving.get_by_label("Name of the template").fill(template)
        expect(saving.locator("code")).to_contain_text("--from-session")
        saving.get_by_role("button", name="Save", exact=True).click()
        # Give it a parameter, and share it.
        page.get_by_role("button", name="Add parameters").click()
        form = page.get_by_role("dialog", name=f"Edit {template}")
        definition = form.get_by_label("Definition")
        expect(definition).to_have_value(re.compile(r"GREETING: hello \$\$\{NAME\}"))
        form.get_by_role("button", name="Add parameter").click()
        form.get_by_label("Name of parameter 1").fill("guest")
        form.get_by_label("Description of parameter 1").fill("Whom to greet.")
        definition.fill(definition.input_value().replace("$${NAME}", "${guest}"))
        form.get_by_role("switch", name="Share with the project").click()
        form.get_by_role("button", name="Save", exact=True).click()
        expect(form).to_be_hidden()
        expect(desk.row(template)).to_contain_text("Project members")
        # Another member starts it, with a value.
        member = make_person(desk.carrel)
        other = open_desk(stranger=True)
        other.go("/")
        other.sign_in(member.password, email=member.email)
        expect(other.page.get_by_role("link", name="Templates")).to_be_visible()
        drawer = start(other, template)
        drawer.get_by_role("button", name="Start", exact=True).click()
        expect(drawer.get_by_text("Enter a value.")).to_be_visible()
        drawer.get_by_label("guest").fill("Ada")
        expect(drawer.locator("code")).to_contain_text(f"carrel template start {template} -p guest=Ada")
        drawer.get_by_role("button", name="Start", exact=True).click()
        detail = other.page.get_by_role("dialog", name=re.compile(f"^{template}-"))
        expect(detail.get_by_text(f"{template}, revision 2")).to_be_visible(timeout=STARTS_MS)
        detail.get_by_role("tab", name="Environment").click()
        expect(detail).to_contain_text("hello Ada")
        # What others share they do not change.
        other.go("/templates")
        edit = other.row(template).get_by_role("button", name="Edit")
        expect(edit).to_have_attribute("aria-disabled", "true")
    finally:
        for words in (("session", "rm", session), ("template", "rm", template)):
            desk.carrel.carrel(*words, "--yes")


def test_the_launcher_begins_with_a_template_and_saves_one(desk: Desk) -> None:
    page, template, again = desk.page, fresh("launched_template"), fresh("again_template")
    drawer = desk.filled_launcher(CPU_cores="0.25", Memory="0.25")
    drawer.get_by_role("button", name="Add variable").click()
    drawer.get_by_label("Name of variable 1").fill("SEED")
    drawer.get_by_label("Value of variable 1").fill("${x}")
    drawer.get_by_role("button", name="Save as template…").click()
    saving = page.get_by_role("dialog", name="Save as template")
    saving.get_by_label("Name of the template").fill(template)
    saving.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text(f"Saved as template {template}")).to_be_visible()
    try:
        desk.go("/sessions?launch=new")
        page.get_by_role("combobox", name="Template").click()
        page.get_by_role("option", name=template).click()
        # What was typed before is kept for a reload, and is not lost without a question.
        page.get_by_role("button", name="Discard changes").click()
        form = page.get_by_role("dialog", name=f"Start {template}")
        form.get_by_role("button", name="Adjust in the launcher").click()
        launcher = page.get_by_role("dialog", name="Start a session")
        expect(launcher.get_by_label("CPU cores", exact=True)).to_have_value("0.25")
        expect(launcher.get_by_label("Value of variable 1")).to_have_value("${x}")
        page.reload()
        expect(launcher.get_by_label("Value of variable 1")).to_have_value("${x}")
        launcher.get_by_role("button", name="Close").click()
        expect(launcher).to_be_hidden()
        # A change that somebody else made meanwhile is not lost.
        desk.go("/templates")
        desk.row(template).get_by_role("button", name="Edit").click()
        # Its title follows the name.
        edited = page.get_by_role("dialog", name=re.compile("^Edit "))
        edited.get_by_label("Description").first.fill("mine")
        desk.carrel.carrel("template", "edit", template, "--name", again)
        edited.get_by_role("button", name="Save", exact=True).click()
        edited.get_by_role("button", name="Discard my changes and load the latest revision").click()
        latest = page.get_by_role("dialog", name=f"Edit {again}")
        expect(latest.get_by_role("textbox", name="Name")).to_have_value(again)
    finally:
        desk.carrel.carrel("template", "rm", "--yes", template, again)


def test_a_request_adjusted_in_the_launcher_keeps_its_array_and_records_the_template(
    desk: Desk, tmp_path: Path
) -> None:
    page, template = desk.page, fresh("swept_template")
    file = tmp_path / "sweep.yaml"
    file.write_text(
        f"name: {template}\nparameters:\n- {{name: word, default: hi}}\n"
        "session: {image: starter, cpu: 0.25, mem: 256m, kind: batch, command: [echo, '${word}'], array: 1-3%2}\n"
    )
    desk.carrel.carrel("template", "create", "-f", str(file))
    try:
        start(desk, template).get_by_role("button", name="Adjust in the launcher").click()
        launcher = page.get_by_role("dialog", name="Start a session")
        expect(launcher.get_by_label("Array", exact=True)).to_have_value("1-3%2")
        page.reload()
        expect(launcher.get_by_label("Array", exact=True)).to_have_value("1-3%2")
        launcher.get_by_label("Name", exact=True).fill(f"{template}-run")
        launcher.get_by_role("button", name="Start", exact=True).click()
        expect(launcher).to_be_hidden()
        shown = desk.carrel.carrel("session", "show", f"{template}-run-1", "-o", "json")
        origin = json.loads(shown.stdout)["template"]
        assert (origin["name"], origin["revision"]) == (template, 1)
    finally:
        desk.carrel.carrel("template", "rm", "--yes", template)
