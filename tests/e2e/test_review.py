"""The review at the end of the launcher: its command and its definition make the same session as its button."""

import json
import os
import re
import subprocess

from playwright.sync_api import Locator, Page, expect

from e2e.conftest import Opener
from e2e.desk import Desk
from e2e.running import CARREL, Running

BATCH = {
    "Name": "reviewed",
    "CPU cores": "0.25",
    "Memory": "0.25",
    "Command": 'echo "it\'s $CARREL_ARRAY_INDEX"\nexit 0',
    "Array": "1-3%2",
    "Retries": "1",
    "Description": 'the "first" of many',
    "Start no earlier than": "2031-05-06T07:08",
    "Bootstrap script": "echo 'made' > ready\n",
    "Working directory": "src",
    "Shared memory": "32 MiB",
    "Time zone": "Asia/Seoul",
    "Locale": "C.UTF-8",
    "Grace period (s)": "20",
    "Priority": "40",
}


def _review(drawer: Locator) -> tuple[str, str]:
    """The command and the definition that the review shows."""
    drawer.get_by_role("button", name="Review").click()
    expect(drawer.get_by_role("heading", name="Review")).to_be_visible()
    definition = drawer.locator("[data-definition]")
    expect(definition).to_contain_text("image: starter")
    command = drawer.get_by_role("region", name="Equivalent command").locator("code").inner_text()
    return command, definition.inner_text()


def _shell(carrel: Running, line: str) -> str:
    """Run a line as a person pastes it, and give the id that it prints."""
    path = f"{CARREL.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", line],
        env={**carrel.environment, "PATH": path},
        text=True,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    # A command that does not wait prints the id only, or with the other facts.
    return done.stdout.split()[0 if " " not in done.stdout.strip() else 1]


def _definition(carrel: Running, session: str) -> dict[str, object]:
    done = carrel.carrel("session", "export", session, "-o", "json")
    assert done.returncode == 0, done.stderr
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


def _end(carrel: Running, name: str) -> None:
    done = carrel.carrel("session", "rm", name, "--yes", "--wait")
    assert done.returncode == 0, done.stderr


def _id_from(page: Page, search: str) -> str:
    answer = page.evaluate(
        "async name => (await (await fetch(`/api/v1/sessions/${name}`)).json()).id", search
    )
    return str(answer)


def test_command_definition_and_button_make_the_same_batch_session(desk: Desk) -> None:
    carrel, page = desk.carrel, desk.page
    assert carrel.carrel("vfolder", "create", "review-data").returncode == 0
    drawer = desk.filled_launcher()
    drawer.get_by_text("Batch: runs a command").click()
    drawer.get_by_role("button", name="More options").click()
    for label, value in BATCH.items():
        drawer.get_by_label(re.compile(rf"^{re.escape(label)}( \*)?$")).fill(value)
    expect(drawer.get_by_text("3 sessions: index 1 to 3, at most 2 at once")).to_be_visible()
    drawer.get_by_role("combobox", name="Stop signal").click()
    page.get_by_role("option", name="SIGINT").click()
    drawer.get_by_role("button", name="Add variable").click()
    drawer.get_by_label("Name of variable 1").fill("GREETING")
    drawer.get_by_label("Value of variable 1").fill("a 'b' \"c\" $d")
    drawer.get_by_role("button", name="Add folder").click()
    drawer.get_by_role("combobox", name="Folder 1").click()
    page.get_by_role("option", name=re.compile("review-data")).click()
    # 1. The review says it in words, with the limits; the name of a variable, not its value.
    command, text = _review(drawer)
    words = drawer.locator("dl").first
    expect(words).to_contain_text("3 sessions: index 1 to 3, at most 2 at once")
    expect(words).to_contain_text("review-data")
    expect(words).to_contain_text("GREETING")
    expect(words).not_to_contain_text("a 'b'")
    expect(drawer.locator("[data-verdict]")).to_be_visible()
    assert command.startswith("printf %s ")
    # 2. The command, the definition, and the button.
    made = []
    made.append(_definition(carrel, _shell(carrel, command)))
    _end(carrel, "reviewed")
    (carrel.data_dir.parent / "job.yaml").write_text(text)
    file = carrel.carrel("run", "--detach", "-f", str(carrel.data_dir.parent / "job.yaml"))
    assert file.returncode == 0, file.stderr
    made.append(_definition(carrel, file.stdout.strip()))
    _end(carrel, "reviewed")
    drawer.get_by_role("button", name=re.compile("^(Start|Add to queue)$")).press("Enter")
    expect(drawer).to_be_hidden()
    made.append(_definition(carrel, _id_from(page, "reviewed-1")))
    _end(carrel, "reviewed")
    assert made[0] == made[1] == made[2]
    expected = {"kind": "batch", "array": "1-3%2", "stop_signal": "SIGINT", "grace_s": 20, "priority": 40}
    assert expected.items() <= made[0].items()
    assert made[0]["env"] == {"GREETING": "a 'b' \"c\" $d"}
    assert made[0]["bootstrap"] == BATCH["Bootstrap script"].strip()


def test_cluster_with_roles_is_made_by_its_command(desk: Desk) -> None:
    carrel, page = desk.carrel, desk.page
    drawer = desk.filled_launcher(Name="reviewed_roles", CPU_cores="0.25", Memory="0.25")
    drawer.get_by_role("button", name="Containers that differ…").click()
    worker = drawer.get_by_role("group", name="Role 2")
    worker.get_by_label("Role name").fill("Worker")
    drawer.get_by_role("button", name="Review").click()
    expect(drawer.get_by_text("Each role needs a different name")).to_be_visible()
    worker.get_by_label("Role name").fill("worker")
    worker.get_by_label("Number").fill("1")
    worker.get_by_label("Resources of its own").check()
    worker.get_by_label("CPU cores").fill("0.1")
    worker.get_by_label("Command of the role").fill("sleep 1000")
    # The form with its roles survives a reload.
    page.wait_for_url(re.compile("sleep"))
    page.reload()
    expect(worker.get_by_label("Command of the role")).to_have_value("sleep 1000")
    command, _ = _review(drawer)
    by_command = _definition(carrel, _shell(carrel, command))
    _end(carrel, "reviewed_roles")
    drawer.get_by_role("button", name=re.compile("^(Start|Add to queue)$")).press("Enter")
    expect(drawer).to_be_hidden()
    assert by_command == _definition(carrel, _id_from(page, "reviewed_roles"))
    _end(carrel, "reviewed_roles")
    assert [one["name"] for one in by_command["roles"]] == ["main", "worker"]  # type: ignore[attr-defined]


def test_launcher_goes_on_to_a_recurring_run(desk: Desk, open_desk: Opener) -> None:
    page = desk.page
    drawer = desk.filled_launcher(CPU_cores="0.25", Memory="0.25")
    drawer.get_by_text("Batch: runs a command").click()
    drawer.get_by_label("Command *").fill("echo nightly")
    drawer.get_by_role("button", name="Add variable").click()
    drawer.get_by_label("Name of variable 1").fill("TOKEN")
    drawer.get_by_label("Value of variable 1").fill("not-in-a-link")
    drawer.get_by_role("button", name="Review").click()
    drawer.get_by_role("button", name="Run this every…").click()
    form = page.get_by_role("dialog", name="New recurring run")
    expect(form.get_by_label("Definition in YAML")).to_have_value(re.compile("not-in-a-link"))
    assert "not-in-a-link" not in page.url
    form.get_by_label("Name").fill("from_launcher")
    # Once more to the launcher and back: what was entered here is kept.
    form.get_by_text("Launcher", exact=True).click()
    form.get_by_role("button", name="Open launcher").click()
    drawer.get_by_label("Command *").fill("echo weekly")
    drawer.get_by_role("button", name="Review").click()
    drawer.get_by_role("button", name="Run this every…").click()
    expect(form.get_by_label("Definition in YAML")).to_have_value(re.compile("echo weekly"))
    expect(form.get_by_label("Name")).to_have_value("from_launcher")
    form.get_by_role("combobox", name="Run this").click()
    page.get_by_role("option", name="Monday to Friday").click()
    form.get_by_role("button", name="Create").click()
    expect(desk.row("from_launcher")).to_contain_text("Weekdays · 06:00")
    japanese = open_desk(locale="ja-JP")
    japanese.go("/sessions/recurring")
    expect(japanese.row("from_launcher")).to_contain_text("平日 · 06:00")
    removed = desk.carrel.carrel("schedule", "rm", "from_launcher", "--yes")
    assert removed.returncode == 0, removed.stderr
