"""Statistics of a month in the browser: figures, prices, the way into a row, the file and the printed page."""

from collections.abc import Iterator
from datetime import UTC, datetime

import psycopg
import pytest
from playwright.sync_api import expect

from carrel.db.embedded import Embedded
from e2e.desk import Desk
from e2e.running import EMAIL, Running

GIB = 1 << 30
_DAY = """
    INSERT INTO usage_days SELECT current_date, u.id, p.id, 'default', 'image:1', slot, u.domain_id,
        array_fill(amount * 3600, ARRAY[2]) || array_fill(CAST(0 AS float), ARRAY[22]), amount * 7200,
        amount * 1800, NULL, CASE slot WHEN 'sessions' THEN '{"26": 4}'::jsonb END
    FROM users u, projects p, (VALUES ('cpu', 2000.0), ('mem', 4294967296.0), ('sessions', 1.0)) s (slot, amount)
    WHERE u.email = %s AND p.name = 'default' ON CONFLICT DO NOTHING
"""


@pytest.fixture
def days(carrel: Running) -> Iterator[None]:
    """Two sessions' hours of the administrator's, a quarter of them used."""
    with psycopg.connect(Embedded(carrel.data_dir / "postgres").url, autocommit=True) as database:
        database.execute("DELETE FROM usage_days")
        database.execute(_DAY, (EMAIL,))
        yield
        database.execute("DELETE FROM usage_days")


@pytest.mark.usefixtures("days")
def test_a_month_shows_use_waste_waits_and_cost_and_prints_as_a_report(desk: Desk) -> None:
    page = desk.page
    desk.carrel.carrel("site", "set", "slot_prices=cpu=0.5", "currency=EUR")
    try:
        desk.go("/")
        page.get_by_role("link", name="Statistics").click()
        total = page.get_by_role("region", name="Total")
        expect(total).to_contain_text("4 core-hours")
        expect(total).to_contain_text("25% used, 3 unused")
        expect(total).to_contain_text("4 started, at most 1 at once")
        expect(total).to_contain_text("€2.00")
        page.get_by_role("combobox", name="Whose sessions").click()
        page.get_by_role("option", name="Installation").click()
        table = page.get_by_role("table", name="Statistics")
        table.get_by_role("link", name="default/default").click()
        expect(table).to_contain_text(EMAIL)
        expect(page.get_by_role("combobox", name="Whose sessions")).to_have_value("Project: default")
        with page.expect_download() as file:
            page.get_by_role("link", name="CSV").click()
        assert f"{datetime.now(UTC):%Y-%m}" in file.value.suggested_filename
        # The printed page is the report alone, in full length.
        page.emulate_media(media="print")
        for hidden in (
            page.get_by_role("navigation", name="Pages"),
            page.get_by_role("button", name="Print"),
        ):
            expect(hidden).to_be_hidden()
        expect(table).to_be_visible()
        assert page.evaluate("document.querySelector('#main').scrollHeight <= document.body.scrollHeight")
    finally:
        page.emulate_media(media="screen")
        desk.carrel.carrel("site", "set", "slot_prices=")
