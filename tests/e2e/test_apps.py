"""Apps through the gateway, and what they may not do."""

import json
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
from playwright.sync_api import Page, expect

from e2e.desk import Desk
from e2e.running import Running

HOWTO = Path(__file__).parents[2] / "docs" / "howto" / "jupyter-from-python.md"
# Not every machine resolves names below localhost.
RESOLVES = """
import socket
real = socket.getaddrinfo
def getaddrinfo(host, *rest, **options):
    return real("127.0.0.1" if str(host).endswith(".localhost") else host, *rest, **options)
socket.getaddrinfo = getaddrinfo
"""
# JupyterLab itself takes most of it, on a machine of two cores.
LAB_MS = 90_000


def _open_jupyter(desk: Desk, session: str) -> Page:
    desk.go("/sessions")
    with desk.page.context.expect_page() as opened:
        desk.row(session).get_by_role("button", name="JupyterLab").click()
    lab = opened.value
    lab.wait_for_url(re.compile(r"^http://jupyter-"), timeout=LAB_MS)
    return lab


def test_jupyter_runs_a_cell_on_its_own_origin(desk: Desk, running_session: str) -> None:
    lab = _open_jupyter(desk, running_session)
    lab.locator(".jp-LauncherCard[data-category='Notebook']").first.click(timeout=LAB_MS)
    cell = lab.locator(".jp-Notebook .jp-Cell .cm-content").first
    cell.click(timeout=LAB_MS)
    # Without its kernel JupyterLab forgets what it is asked to run.
    expect(lab.locator("#jp-main-statusbar")).to_contain_text("| Idle", timeout=LAB_MS)
    lab.keyboard.type("print(6 * 7, 'is the answer')")
    lab.keyboard.press("Shift+Enter")
    expect(lab.locator(".jp-OutputArea-output").first).to_have_text(
        re.compile("42 is the answer"), timeout=LAB_MS
    )
    here = urlsplit(lab.url)
    assert here.hostname is not None
    assert here.hostname.endswith(".localhost")
    assert here.port == desk.carrel.port + 1
    assert "ticket" not in lab.url


def test_app_cannot_script_the_control_plane(desk: Desk, running_session: str) -> None:
    app = _open_jupyter(desk, running_session)
    app.wait_for_load_state("domcontentloaded")
    assert app.evaluate("window.opener") is None
    url = desk.carrel.url
    read = app.evaluate(
        """(url) => fetch(url + "/api/v1/auth/me", { credentials: "include" })
            .then(() => "read", (error) => error.name)""",
        url,
    )
    assert read == "TypeError"
    # A blind request leaves, but without the person's cookie and token it does nothing.
    app.evaluate(
        """(url) => fetch(url + "/api/v1/auth/logout", { method: "POST", mode: "no-cors", credentials: "include" })
            .then(() => "sent", (error) => error.name)""",
        url,
    )
    desk.page.reload()
    expect(desk.row(running_session)).to_contain_text("Running")
    # Nor can the page be shown in a frame of the app's.
    framed = app.evaluate(
        """(url) => new Promise((resolve) => {
            const frame = document.createElement("iframe");
            frame.onload = () => resolve(frame.contentDocument ? "shown" : "denied");
            frame.src = url;
            document.body.append(frame);
        })""",
        url,
    )
    assert framed == "denied"


def test_apps_tab_opens_the_same_and_shows_its_command(desk: Desk, running_session: str) -> None:
    desk.go("/sessions")
    drawer = desk.detail(running_session, "Apps")
    command = drawer.get_by_role("region", name="JupyterLab").locator("code", has_text="carrel app open")
    expect(command).to_be_visible()
    words = command.inner_text().split()
    done = desk.carrel.carrel(*words[1:], "--print-url", timeout=LAB_MS / 1000)
    assert done.returncode == 0, done.stderr
    assert f".localhost:{desk.carrel.port + 1}/" in done.stdout


SHARE = {
    "name": "share",
    "title": "Shared folder",
    "port": 8431,
    "requires": "python3",
    "command": ["python3", "-m", "http.server", "{port}", "--directory", "{folder}"],
    "ready": "/",
    "options": [{"name": "folder", "title": "Folder", "type": "path", "default": "/home/work"}],
}
BROKEN = {
    "name": "broken",
    "title": "Broken board",
    "port": 8432,
    "command": ["sh", "-c", "echo no module named board >&2; exit 3"],
}


def test_own_app_starts_with_its_option_and_one_that_fails_shows_its_log(
    desk: Desk, own_session: str, tmp_path: Path
) -> None:
    carrel = desk.carrel
    for definition in (SHARE, BROKEN):
        file = tmp_path / "app.json"
        file.write_text(json.dumps(definition))
        done = carrel.carrel("app-template", "create", "-f", str(file))
        assert done.returncode == 0, done.stderr
    carrel.shell(own_session, "mkdir -p ~/shown && echo hello > ~/shown/greeting.txt")
    desk.go("/sessions")
    drawer = desk.detail(own_session, "Apps")
    share = drawer.get_by_role("region", name="Shared folder")
    share.get_by_role("button", name="More about Shared folder").click()
    desk.page.get_by_role("menuitem", name="Start with options").click()
    dialog = desk.page.get_by_role("dialog", name="Start Shared folder")
    dialog.get_by_label("Folder").fill("/home/work/shown")
    dialog.get_by_role("button", name="Start", exact=True).click()
    expect(share).to_contain_text("started", ignore_case=True, timeout=LAB_MS)
    expect(dialog).to_be_hidden()
    with desk.page.context.expect_page() as opened:
        share.get_by_role("button", name="Open in a new tab").click()
    expect(opened.value.get_by_text("greeting.txt")).to_be_visible(timeout=LAB_MS)
    opened.value.close()
    done = carrel.carrel("app", "start", own_session, "broken", timeout=LAB_MS / 1000)
    assert "no module named board" in done.stderr
    broken = drawer.get_by_role("region", name="Broken board")
    expect(broken).to_contain_text("ended with exit code 3", ignore_case=True, timeout=LAB_MS)
    expect(broken).to_contain_text("no module named board", timeout=LAB_MS)
    done = carrel.carrel("app-template", "rm", "share", "broken", "--yes")
    assert done.returncode == 0, done.stderr


def test_port_of_a_program_is_opened_as_an_app(desk: Desk, own_session: str) -> None:
    serve = "mkdir -p ~/site && echo own-site > ~/site/index.html && cd ~/site && "
    desk.carrel.shell(own_session, serve + "(python3 -m http.server 8433 >/dev/null 2>&1 &)")
    desk.go("/sessions")
    drawer = desk.detail(own_session, "Apps")
    drawer.get_by_role("button", name="Open a port").click()
    dialog = desk.page.get_by_role("dialog", name="Open a port")
    dialog.get_by_label("Port").fill("8433")
    dialog.get_by_label("Name").fill("site")
    dialog.get_by_role("button", name="Open port").click()
    expect(dialog).to_be_hidden(timeout=LAB_MS)
    site = drawer.get_by_role("region", name="site")
    expect(site).to_contain_text("port 8433 is open", ignore_case=True, timeout=LAB_MS)
    with desk.page.context.expect_page() as opened:
        site.get_by_role("button", name="Open in a new tab").click()
    expect(opened.value.get_by_text("own-site")).to_be_visible(timeout=LAB_MS)


def test_app_address_works_once(desk: Desk, running_session: str) -> None:
    done = desk.carrel.carrel("app", "open", running_session, "jupyter", "--print-url", timeout=LAB_MS / 1000)
    address = done.stdout.strip()
    host = urlsplit(address).netloc
    first = httpx2.get(
        address.replace(host, f"127.0.0.1:{desk.carrel.port + 1}"),
        headers={"Host": host},
        follow_redirects=False,
    )
    assert first.is_redirect
    again = httpx2.get(
        address.replace(host, f"127.0.0.1:{desk.carrel.port + 1}"),
        headers={"Host": host},
        follow_redirects=False,
    )
    assert again.status_code in (401, 403)


def test_documented_program_runs_code_in_a_kernel_of_jupyter(
    carrel: Running, running_session: str, tmp_path: Path
) -> None:
    [program] = re.findall(r"```python\n(.*?)```", HOWTO.read_text(), re.DOTALL)
    (tmp_path / "sitecustomize.py").write_text(RESOLVES)
    (tmp_path / "program.py").write_text(program)
    done = subprocess.run(
        [sys.executable, "program.py", running_session],
        cwd=tmp_path,
        env={**carrel.environment, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=2 * LAB_MS / 1000,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "42\n"), done.stderr
