"""Folders on the page: their files, whom they are shared with, in sessions, and into the trash."""

import fcntl
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from e2e.conftest import Opener
from e2e.desk import STARTS_MS, Desk
from e2e.people import administrator
from e2e.roles import Roles
from e2e.running import Running


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A directory of the desktop with files, with directories in it, and one that is empty."""
    top = tmp_path / "tree"
    (top / "data" / "empty").mkdir(parents=True)
    (top / "README.md").write_text("# Readings\n\n| day | value |\n|---|---|\n| 1 | 7 |\n")
    (top / "data" / "readings.csv").write_text("day,value\n1,7\n2,9\n")
    return top


@pytest.fixture(autouse=True)
def nothing_left(carrel: Running) -> Iterator[None]:
    """A journey that is gone through again finds no folder of its first time, neither in use nor in the trash."""
    yield
    with administrator(carrel) as api:
        mounted = {"q": "reads_shared", "owner": "all", "state": "live"}
        for session in api.get("/sessions", params=mounted).json()["items"]:
            carrel.carrel("session", "rm", "--yes", session["id"], "--force", "--wait")
        journeys = {"q": "journey-"}
        for folder in api.get("/vfolders", params=journeys).json()["items"]:
            assert api.post(f"/vfolders/{folder['id']}/trash").is_success
        for folder in api.get("/vfolders", params={**journeys, "state": "trash"}).json()["items"]:
            api.delete(f"/vfolders/{folder['id']}", params={"name": folder["name"]})


def _make(desk: Desk, name: str) -> None:
    """Make a folder on the page, which opens it."""
    desk.go("/data?make=one")
    form = desk.page.get_by_role("dialog", name="New folder")
    form.get_by_role("textbox", name="Name").fill(name)
    expect(form.get_by_text(f"carrel vfolder create {name}", exact=True)).to_be_visible()
    form.get_by_role("button", name="Create").click()
    expect(desk.page.get_by_role("heading", level=1)).to_have_text(name)


def _drop(page: Page, onto: Locator, path: Path) -> None:
    """Drop something of the desktop, as a hand does: Playwright has no word for whole directories."""
    expect(onto).to_be_visible()
    box = onto.bounding_box()
    assert box
    where = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    data = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
    hand = page.context.new_cdp_session(page)
    for step in ("dragEnter", "dragOver", "drop"):
        hand.send("Input.dispatchDragEvent", {"type": step, **where, "data": data})
    hand.detach()


def _file(page: Page, name: str) -> Locator:
    return (
        page.get_by_role("table", name=re.compile("^Files of"))
        .get_by_role("row")
        .filter(has=page.get_by_role("button", name=name, exact=True))
    )


def _wait(page: Page, holds: Callable[[], bool]) -> None:
    """Until it holds of what the page cannot show."""
    for _ in range(600):
        if holds():
            return
        page.wait_for_timeout(100)
    pytest.fail("It did not come to that within a minute.")


def _open(page: Page, name: str) -> None:
    _file(page, name).get_by_role("button", name=name, exact=True).click()


def test_files_are_dropped_renamed_moved_edited_and_saved(desk: Desk, tree: Path, tmp_path: Path) -> None:
    page = desk.page
    _make(desk, "journey-files")
    folder = page.url.rsplit("/", 1)[1]

    # 1. A whole tree, and the same once more: what becomes of the names is asked.
    _drop(page, page.get_by_role("region", name="Files"), tree)
    expect(_file(page, "tree")).to_be_visible()
    _open(page, "tree")
    _drop(page, page.get_by_role("region", name="Files"), tree / "README.md")
    clash = page.get_by_role("dialog", name="File already exists")
    clash.get_by_role("button", name="Keep both").click()
    expect(_file(page, "README (1).md")).to_be_visible()
    page.get_by_role("button", name=re.compile("^Notifications")).click()
    expect(page.get_by_role("article", name="Upload to journey-files").first).to_contain_text("1 of 1 file")
    page.keyboard.press("Escape")

    # 2. By keys alone: another name, with a question when its kind changes, and gone.
    _file(page, "README (1).md").focus()
    page.keyboard.press("Home")
    page.keyboard.press("End")
    expect(page.get_by_text("1 selected")).to_be_visible()
    page.keyboard.press("F2")
    name = page.get_by_role("textbox", name="New name of")
    name.fill("notes.txt")
    name.press("Enter")
    question = page.get_by_role("dialog", name="Change the extension?")
    question.get_by_role("button", name="Rename").click()
    expect(_file(page, "notes.txt")).to_be_visible()

    # 3. Into a directory by hand, and there it is.
    _file(page, "notes.txt").drag_to(_file(page, "data"))
    expect(_file(page, "notes.txt")).to_be_hidden()
    _open(page, "data")
    for each in ("empty", "notes.txt", "readings.csv"):
        expect(_file(page, each)).to_be_visible()
    _open(page, "readings.csv")
    preview = page.get_by_role("complementary", name="Preview")
    expect(preview.get_by_role("columnheader", name="value")).to_be_visible()

    # 4. Two change the same file: the second is asked, and nothing is lost.
    preview.get_by_role("button", name="Edit").click()
    editor = page.get_by_role("dialog", name="readings.csv")
    editor.get_by_role("textbox", name="readings.csv").click()
    page.keyboard.press("Control+End")
    page.keyboard.type("3,mine")
    with administrator(desk.carrel) as api:
        where = {"path": "tree/data/readings.csv"}
        assert api.put(f"/vfolders/{folder}/content", params=where, content=b"3,theirs\n").status_code == 200
        page.keyboard.press("Control+s")
        # There is a copy of that name, too.
        beside = {"path": "tree/data/readings (copy).csv"}
        assert api.put(f"/vfolders/{folder}/content", params=beside, content=b"older\n").status_code == 200
        conflict = page.get_by_role("dialog", name="Changed by someone else")
        conflict.get_by_role("button", name="Save my version as readings (copy).csv").click()
        copied = page.get_by_role("dialog", name="readings (copy 2).csv")
        expect(copied.get_by_role("textbox")).to_contain_text("3,mine")
        copied.get_by_role("button", name="Close").last.click()
        assert api.get(f"/vfolders/{folder}/content", params=where).text == "3,theirs\n"
        assert api.get(f"/vfolders/{folder}/content", params=beside).text == "older\n"
    expect(_file(page, "readings (copy 2).csv")).to_be_visible()

    # 5. All of it at once as a zip file; then deleted.
    _file(page, "notes.txt").focus()
    page.keyboard.press("Control+a")
    expect(page.get_by_text("all 5 entries selected")).to_be_visible()
    with page.expect_download() as saving:
        page.get_by_role("button", name="Download as zip").click()
    saving.value.save_as(tmp_path / "all.zip")
    names = zipfile.ZipFile(tmp_path / "all.zip").namelist()
    assert {"notes.txt", "readings.csv", "readings (copy 2).csv"} <= set(names)
    page.get_by_role("button", name="Delete…").click()
    page.get_by_role("dialog", name="Delete").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("This directory is empty")).to_be_visible()


def test_unsaved_names_of_files_are_asked_about(desk: Desk, tree: Path) -> None:
    page = desk.page
    asked = page.get_by_role("dialog", name="Discard unsaved changes?")
    _make(desk, "journey-names")
    _drop(page, page.get_by_role("region", name="Files"), tree)
    page.get_by_role("button", name="New directory").click()
    dialog = page.get_by_role("dialog", name="New directory")
    dialog.get_by_role("textbox", name="Name").fill("results")
    page.keyboard.press("Escape")
    asked.get_by_role("button", name="Keep editing").click()
    expect(dialog.get_by_role("textbox", name="Name")).to_have_value("results")
    dialog.get_by_role("button", name="Create").click()
    expect(_file(page, "results")).to_be_visible()
    expect(dialog).to_have_count(0)
    expect(asked).to_have_count(0)
    # The dialog gives the focus back only now.
    expect(page.get_by_role("button", name="New directory")).to_be_focused()

    _file(page, "results").focus()
    page.keyboard.press("Home")
    expect(page.get_by_text("1 selected")).to_be_visible()
    page.keyboard.press("F2")
    name = page.get_by_role("textbox", name="New name of results")
    name.fill("figures")
    for leave in (
        lambda: _open(page, "tree"),
        lambda: page.get_by_role("link", name="Dashboard").click(),
    ):
        leave()
        asked.get_by_role("button", name="Keep editing").click()
        expect(name).to_have_value("figures")
    name.press("Escape")
    expect(name).to_have_count(0)
    _open(page, "tree")
    expect(_file(page, "README.md")).to_be_visible()


def test_upload_shows_its_progress_in_the_folder_and_is_cancelled(desk: Desk, tmp_path: Path) -> None:
    page = desk.page
    (tmp_path / "large.bin").write_bytes(os.urandom(8 << 20))
    _make(desk, "journey-upload")
    page.route("**/uploads", lambda _: None)
    _drop(page, page.get_by_role("region", name="Files"), tmp_path / "large.bin")
    shown = page.get_by_role("region", name="Uploads")
    expect(shown).to_contain_text("0 of 1 file")
    expect(shown.get_by_role("progressbar")).to_have_attribute("aria-valuenow", "0")
    shown.get_by_role("button", name="Cancel: large.bin").click()
    expect(shown).to_be_hidden()
    expect(page.get_by_text("This folder is empty")).to_be_visible()


def test_images_have_thumbnails_and_source_is_highlighted(desk: Desk, tmp_path: Path) -> None:
    page = desk.page
    _make(desk, "journey-preview")
    folder = page.url.rsplit("/", 1)[1]
    with administrator(desk.carrel) as api:
        for path, content in (
            ("dot.png", _png()),
            ("broken.png", b"no image"),
            ("train.py", b"def train(): ...\n"),
        ):
            assert api.put(f"/vfolders/{folder}/content", params={"path": path}, content=content).is_success
    expect(_file(page, "dot.png").locator("img")).to_have_attribute("src", re.compile("^data:image/"))
    expect(_file(page, "broken.png").locator("svg").first).to_be_visible()
    _open(page, "train.py")
    preview = page.get_by_role("complementary", name="Preview")
    expect(preview.get_by_role("textbox", name="train.py")).to_contain_text("def train")
    expect(preview.locator(".cm-line span").filter(has_text=re.compile("^def$"))).to_be_visible()


def _png() -> bytes:
    """One red pixel."""
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(b"\0\xff\0\0")),
        (b"IEND", b""),
    )
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def test_shared_folder_reaches_another_person_and_their_session(
    desk: Desk, open_desk: Opener, roles: Roles, tree: Path
) -> None:
    page = desk.page
    _make(desk, "journey-shared")
    _drop(page, page.get_by_role("region", name="Files"), tree / "README.md")
    expect(_file(page, "README.md")).to_be_visible()

    # 1. Offered to two: who is nobody is named, who is somebody is asked.
    page.get_by_role("button", name="Share", exact=True).click()
    drawer = page.get_by_role("dialog", name="Share journey-shared")
    for person in (roles.user, "nobody@example.org"):
        drawer.get_by_label("People").fill(person)
        drawer.get_by_label("People").press("Enter")
    drawer.get_by_role("button", name="Share", exact=True).click()
    expect(drawer.get_by_role("alert")).to_contain_text("nobody@example.org")
    expect(drawer).to_contain_text("invited")

    # 2. They see it without a reload, and take it.
    other = roles.desk(open_desk, roles.user)
    other.page.get_by_role("link", name="Data, 1 invitations").click()
    other.page.get_by_role("link", name=re.compile("^Invitations")).click()
    other.page.get_by_role("button", name="Accept: journey-shared").click()
    expect(other.page.get_by_role("heading", level=1)).to_have_text("journey-shared")
    expect(_file(other.page, "README.md")).to_be_visible()
    expect(drawer.get_by_text("invited", exact=True)).to_be_hidden()

    # 3. In a session of theirs it is there to read, and not to write.
    other.page.get_by_role("button", name="Start a session here").click()
    launcher = other.page.get_by_role("dialog", name="Start a session")
    launcher.get_by_role("textbox", name="Name").fill("reads_shared")
    launcher.get_by_label("CPU cores", exact=True).fill("0.25")
    expect(launcher.get_by_role("checkbox", name="Folder 1 read-only")).to_be_checked()
    expect(launcher.get_by_text("--mount journey-shared")).to_be_visible()
    launcher.get_by_role("button", name="Start", exact=True).click()
    other.expect_state("reads_shared", "Running")
    shell = other.terminal("reads_shared")
    shell.enter("cat journey-shared/README.md; touch journey-shared/new || echo re''fused")
    shell.expect("Readings")
    shell.expect("refused")

    # 4. Taken back: it is said who keeps it, and until when.
    drawer.get_by_role("button", name=f"Stop sharing: {roles.user}").click()
    page.get_by_role("dialog", name="Stop sharing").get_by_role("button", name="Stop sharing").click()
    expect(drawer.get_by_role("alert").filter(has_text="keeps the folder mounted")).to_be_visible()
    expect(drawer.get_by_text("Not shared")).to_be_visible()
    other.go("/sessions")
    other.row("reads_shared").get_by_role("button", name="Terminate").click()
    other.page.get_by_role("dialog").get_by_role("button", name="Terminate").click()
    other.expect_state("reads_shared", "Terminated")


def test_folder_goes_into_the_trash_and_back_and_is_deleted_for_good(desk: Desk) -> None:
    page = desk.page
    _make(desk, "journey-trash")
    desk.go("/data")
    row = desk.row("journey-trash")
    row.get_by_role("checkbox").check()
    page.get_by_role("button", name="Move to trash…").click()
    page.get_by_role("dialog").get_by_role("button", name="Move to trash").click()
    expect(row).to_be_hidden()
    page.get_by_role("link", name="Trash").click()
    expect(row).to_be_visible()
    row.get_by_role("button", name="Restore").click()
    page.get_by_role("dialog").get_by_role("button", name="Restore").click()
    expect(row).to_be_hidden()

    page.get_by_role("link", name="Mine").click()
    row.focus()
    page.keyboard.press("Delete")
    page.get_by_role("dialog").get_by_role("button", name="Move to trash").click()
    expect(row).to_be_hidden()
    page.get_by_role("link", name="Trash").click()
    row.get_by_role("button", name="Delete permanently").click()
    question = page.get_by_role("dialog", name="Delete permanently")
    confirm = question.get_by_role("button", name="Delete permanently")
    expect(confirm).to_be_disabled()
    question.get_by_label("Type journey-trash to confirm").fill("journey-trash")
    confirm.click()
    expect(row).to_be_hidden(timeout=STARTS_MS)


def test_all_of_a_large_directory_is_chosen_saved_and_deleted(desk: Desk, tmp_path: Path) -> None:
    many = tmp_path / "many"
    many.mkdir()
    for number in range(1, 1101):
        (many / f"{number:04}.txt").write_text("7\n")
    (many / "0000.pdf").write_bytes(
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj "
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj trailer<</Root 1 0 R>>\n"
    )
    page = desk.page
    _make(desk, "journey-crowded")
    done = desk.carrel.carrel("cp", "-r", f"{many}/", "journey-crowded:all")
    assert done.returncode == 0, done.stderr
    _open(page, "all")

    page.evaluate("Object.defineProperty(navigator, 'pdfViewerEnabled', { value: true })")
    _open(page, "0000.pdf")
    expect(page.locator("iframe[title='0000.pdf']")).to_have_attribute("src", re.compile("^blob:"))
    page.get_by_role("button", name="Close preview").click()

    _file(page, "0001.txt").click()
    page.keyboard.press("Control+a")
    expect(page.get_by_text("all 1,101 entries selected")).to_be_visible()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download as zip").click()
    with zipfile.ZipFile(saved.value.path()) as archive:
        assert len([name for name in archive.namelist() if not name.endswith("/")]) == 1101
    page.get_by_role("button", name="Delete…").click()
    question = page.get_by_role("dialog", name="Delete")
    expect(question).to_contain_text("These 1,101 entries are deleted permanently")
    question.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("This directory is empty")).to_be_visible()


def test_upload_whose_last_bytes_meet_a_killed_server_is_finished(desk: Desk, tmp_path: Path) -> None:
    page, content = desk.page, os.urandom(24 << 20)
    (tmp_path / "readings.bin").write_bytes(content)
    _make(desk, "journey-killed")
    folder = page.url.rsplit("/", 1)[1]
    (stage,) = (desk.carrel.data_dir / "folders").glob(f"*/{folder}/stage")
    with (stage / ".lock").open("w") as lock:
        # Whoever puts a file into its place waits for this: all bytes have come, and the file is not there.
        fcntl.flock(lock, fcntl.LOCK_EX)
        _drop(page, page.get_by_role("region", name="Files"), tmp_path / "readings.bin")
        _wait(page, lambda: any(each.stat().st_size == len(content) for each in stage.glob("upload-*")))
        desk.carrel.kill_api()
    expect(_file(page, "readings.bin")).to_be_visible(timeout=STARTS_MS)
    page.get_by_role("button", name=re.compile("^Notifications")).click()
    upload = page.get_by_role("article", name="Upload to journey-killed")
    expect(upload).to_contain_text("1 of 1 file", timeout=STARTS_MS)
    assert (stage.parent / "files" / "readings.bin").read_bytes() == content


def test_name_that_is_no_text_is_left_alone_by_keys_and_by_hand(desk: Desk) -> None:
    page = desk.page
    _make(desk, "journey-names")
    folder = page.url.rsplit("/", 1)[1]
    with administrator(desk.carrel) as api:
        for path in ("plain.txt", "box/inner.txt"):
            where = {"path": path}
            assert api.put(f"/vfolders/{folder}/content", params=where, content=b"7\n").is_success
        # As a session makes it: the page could not.
        place = next(path.parent for path in desk.carrel.data_dir.rglob("plain.txt"))
        (place / os.fsdecode(b"bad\xff.txt")).write_text("7\n")
    page.reload()
    _file(page, "plain.txt").click()
    page.keyboard.press("Control+a")
    expect(page.get_by_text("all 3 entries selected")).to_be_visible()
    with page.expect_response(lambda answer: answer.url.endswith("/files/move")) as moved:
        _file(page, "plain.txt").drag_to(_file(page, "box"))
    assert moved.value.json() == {"paths": ["box/plain.txt"], "refused": []}
    expect(_file(page, "plain.txt")).to_be_hidden()

    _file(page, "box").focus()
    page.keyboard.press("Control+a")
    expect(page.get_by_text("all 2 entries selected")).to_be_visible()
    page.keyboard.press("Delete")
    question = page.get_by_role("dialog", name="Delete")
    expect(question).to_contain_text("This entry is deleted permanently")
    question.get_by_role("button", name="Delete").click()
    expect(_file(page, "box")).to_be_hidden()
    expect(_file(page, "bad\ufffd.txt")).to_be_visible()
