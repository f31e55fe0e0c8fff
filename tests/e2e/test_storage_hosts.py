"""Storage hosts on the page: where their folders are on an engine, and the check of it."""

from pathlib import Path

from playwright.sync_api import expect

from e2e.desk import STARTS_MS, Desk


def test_location_on_an_engine_is_saved_and_checked(desk: Desk, tmp_path: Path) -> None:
    page = desk.page
    made = desk.carrel.carrel("storage-host", "create", "posix", "archive", "--root", str(tmp_path))
    assert made.returncode == 0, made.stderr
    try:
        desk.go("/storage?open=archive")
        form = (
            page.get_by_role("dialog", name="archive").locator("form").filter(has_text="Location on engines")
        )
        save, check = form.get_by_role("button", name="Save"), form.get_by_role("button", name="Check")
        for choice, word in (("Not available", "--nowhere"), ("At the same path", "--same-path")):
            form.get_by_role("combobox", name="Folders on its nodes").click()
            page.get_by_role("option", name=choice).click()
            expect(form.get_by_text(f"carrel storage-host location archive local {word}")).to_be_visible()
            expect(check).to_be_disabled()
            save.click()
            # What is saved can be checked.
            expect(check).to_be_enabled()
            expect(save).to_be_disabled()
        check.click()
        expect(form.get_by_role("alert")).to_contain_text("have the same files", timeout=STARTS_MS)
    finally:
        desk.carrel.carrel("storage-host", "rm", "archive", "--yes")
