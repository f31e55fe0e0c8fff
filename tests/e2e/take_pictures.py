"""Take the pictures of the documentation: `PYTHONPATH=tests python -m e2e.take_pictures [NAME ...]`.

Starts an installation of its own with a few people, sessions and files, and writes docs/images/NAME.png.
"""

import sys
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from e2e.conftest import ARGUMENTS, CHROMIUM
from e2e.desk import Desk
from e2e.own_network import own_network
from e2e.people import PASSWORD, administrator
from e2e.running import Running, installation

IMAGES = Path(__file__).parents[2] / "docs" / "images"
SIZE = {"width": 1440, "height": 900}
TRAINING = "while True: sum(i * i for i in range(150000))"


def prepare(carrel: Running) -> None:
    """What is in the pictures."""
    with administrator(carrel) as api:

        def post(path: str, body: object) -> None:
            answer = api.post(path, json=body)
            assert answer.is_success, answer.text

        post("/projects", {"name": "vision", "ceilings": {"cpu": 500}})
        for email, name, project in (
            ("mina@example.org", "Mina Park", "vision"),
            ("ada@example.org", "Ada Lovelace", "default"),
            ("kenji@example.org", "Kenji Sato", "vision"),
        ):
            person = {"email": email, "name": name, "password": PASSWORD, "must_change_password": False}
            post("/users", {**person, "projects": [project]})
        api.post("/projects/vision/members", json={"users": ["admin@carrel.local"]})
        folder = api.post("/vfolders", json={"name": "corpus"}).json()["id"]
        for path, content in (
            (
                "README.md",
                b"# Corpus\n\nOne row a day.\n\n| day | value |\n|---|---|\n| 1 | 7 |\n",
            ),
            (
                "readings.csv",
                b"day,value\n" + b"".join(b"%d,%d\n" % (day, day * 7 % 11) for day in range(1, 40)),
            ),
            (
                "train.py",
                b"import csv\n\nwith open('readings.csv') as file:\n    print(len(list(csv.reader(file))))\n",
            ),
        ):
            assert api.put(f"/vfolders/{folder}/content", params={"path": path}, content=content).is_success
        api.post("/vfolders", json={"name": "checkpoints"})
        api.patch("/projects/default", json={"ceilings": {"cpu": 8000}})
        api.patch("/projects/default", json={"ceilings": {"cpu": 4000}})
    for words in (
        ("--name", "notes", "--cpu", "0.25", "--mem", "512m", "--wait"),
        ("--name", "train-digits", "--cpu", "0.5", "--mem", "1g", "-v", "corpus", "--wait"),
        ("--name", "train-cats", "--cpu", "0.5", "--mem", "256m", "--project", "vision", "--wait"),
        ("--name", "train-dogs", "--cpu", "0.5", "--mem", "256m", "--project", "vision"),
    ):
        done = carrel.carrel("session", "create", "--image", "starter", *words)
        assert done.returncode == 0, done.stderr
    carrel.shell("train-digits", f"nohup python3 -c '{TRAINING}' >/dev/null 2>&1 &")


def start(desk: Desk) -> None:
    desk.go("/")


def sign_in(desk: Desk) -> None:
    desk.page.context.clear_cookies()
    desk.go("/signin")
    expect(desk.page.get_by_label("E-mail")).to_be_visible()


def launcher(desk: Desk) -> None:
    desk.filled_launcher(Name="train-2", CPU_cores="0.25")
    expect(desk.page.get_by_text("Starts now").first).to_be_visible()


def would_wait(desk: Desk) -> None:
    with administrator(desk.carrel) as api:
        everything = str(api.get("/resources").json()["capacity"]["cpu"] / 1000)
    drawer = desk.filled_launcher(Name="train-2", CPU_cores=everything)
    expect(drawer).to_contain_text("Starts later")


def sessions(desk: Desk) -> None:
    desk.go("/sessions")
    desk.expect_state("train-digits", "Running")
    expect(desk.row("train-digits")).to_contain_text("%")


def usage(desk: Desk) -> None:
    desk.go("/sessions")
    desk.detail("train-digits", "Resource usage")
    expect(desk.page.locator("canvas").first).to_be_visible()


def terminal(desk: Desk) -> None:
    shell = desk.terminal("train-digits")
    shell.enter("ls corpus; head -4 corpus/readings.csv; python3 --version")
    shell.expect("Python 3")


def why(desk: Desk) -> None:
    desk.go("/sessions")
    expect(desk.detail("train-dogs").get_by_role("region", name="Why is it waiting?")).to_be_visible()


def people(desk: Desk) -> None:
    desk.go("/users")
    expect(desk.row("mina@example.org")).to_be_visible()


def project(desk: Desk) -> None:
    desk.go("/projects")
    desk.row("vision").get_by_text("vision", exact=True).click()
    expect(desk.page.get_by_role("dialog")).to_contain_text("mina@example.org")


def policy(desk: Desk) -> None:
    desk.go("/projects")
    desk.page.get_by_role("button", name="Edit: vision", exact=True).click()
    drawer = desk.page.get_by_role("dialog", name="Edit vision")
    drawer.get_by_label("Limit for CPU cores").fill("0.1")
    expect(drawer.get_by_role("status")).to_contain_text("limit 0.1 CPU")


def corpus(desk: Desk) -> str:
    """The id of the folder."""
    with administrator(desk.carrel) as api:
        [folder] = api.get("/vfolders", params={"q": "corpus"}).json()["items"]
    return str(folder["id"])


def files(desk: Desk) -> None:
    desk.go(f"/data/{corpus(desk)}?file=readings.csv")
    expect(desk.page.get_by_role("row", name="39 9")).to_be_visible()


def sharing(desk: Desk) -> None:
    desk.go(f"/data?open={corpus(desk)}&tab=sharing")
    expect(desk.page.get_by_role("dialog")).to_contain_text("Not shared")


def node(desk: Desk) -> None:
    desk.go("/resources")
    desk.page.get_by_role("row").nth(1).get_by_role("cell").nth(1).click()
    expect(desk.page.get_by_role("dialog")).to_be_visible()


def drain(desk: Desk) -> None:
    node(desk)
    desk.page.get_by_role("dialog").get_by_role("button", name="Drain").first.click()
    expect(desk.page.get_by_role("dialog", name="Drain")).to_contain_text("train-digits")


def configurations(desk: Desk) -> None:
    desk.go("/site")
    desk.page.get_by_label("Failed attempts until an account is locked").fill("5")


def audit(desk: Desk) -> None:
    desk.go("/audit")
    desk.page.get_by_role("row").filter(has_text="default").first.click()


def dashboard(desk: Desk) -> None:
    desk.go("/dashboard")
    # Usage is recorded once a minute.
    expect(desk.page.locator("canvas").first).to_be_visible(timeout=150_000)


def at(path: str) -> Callable[[Desk], None]:
    return lambda desk: desk.go(path)


PICTURES: dict[str, Callable[[Desk], None]] = {
    "start": start,
    "launcher": launcher,
    "would-wait": would_wait,
    "terminal": terminal,
    "why": why,
    "queue": at("/scheduler"),
    "shares": at("/scheduler?view=shares"),
    "data": at("/data"),
    "files": files,
    "sharing": sharing,
    "settings": at("/settings/profile"),
    "token": at("/settings/tokens?form=new"),
    "people": people,
    "project": project,
    "policy": policy,
    "node": node,
    "drain": drain,
    "configurations": configurations,
    "audit": audit,
    # Those that show use over time come late, when there is some.
    "sessions": sessions,
    "usage": usage,
    "dashboard": dashboard,
    "sign-in": sign_in,
}


def take(page: Page, name: str) -> None:
    expect(page.get_by_role("heading").first).to_be_attached()
    expect(page.locator("[aria-busy=true], .mantine-Skeleton-root")).to_have_count(0)
    page.evaluate("document.fonts.ready")
    page.screenshot(path=IMAGES / f"{name}.png", animations="disabled")
    sys.stdout.write(f"{name}\n")


def main(names: list[str]) -> None:
    with installation("pictures") as carrel, sync_playwright() as playwright:
        prepare(carrel)
        with own_network():
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        page = browser.new_context(locale="en-GB", viewport=SIZE, reduced_motion="reduce").new_page()
        desk = Desk(page, carrel)
        desk.go("/")
        desk.sign_in()
        expect(page.get_by_role("heading", level=1)).to_contain_text("Welcome, ")
        for name in names or PICTURES:
            PICTURES[name](desk)
            take(page, name)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
