"""Statistics of a period: what they add up, who may read them, their file, and what reading them costs."""

import csv
import io
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from auth_kit import set_site
from databases import sql
from installation import Api
from people_kit import domain_admin, project_admin, status_and_code
from query_plans import plans
from usage_kit import GIB, packed, ran, sampled

from carrel.tables.usage import UsageScope
from carrel.usage.statistics import queries
from carrel.usage.statistics.schemas import StatisticsBy

MIDNIGHT = datetime(2026, 3, 2, tzinfo=UTC)
HOUR = timedelta(hours=1)
MARCH = {"from": "2026-03-01", "to": "2026-03-31"}


@pytest.fixture
async def past(api: Api) -> None:
    """Two sessions of the user, at once for an hour, and one of a foreigner."""
    database, people = api.database, api.people
    for name, cpu, image, waited_s in (("busy", 1500, "a:1", 0.0), ("lazy", 100, "b:1", 100.0)):
        _, main = await ran(
            database, people, MIDNIGHT, MIDNIGHT + 2 * HOUR, name=name, image=image, waited_s=waited_s
        )
        await sampled(database, main, MIDNIGHT, MIDNIGHT + HOUR, cpu_millis=cpu, mem_bytes=GIB)
    await ran(database, people, MIDNIGHT + HOUR, MIDNIGHT + 3 * HOUR, owner=people.foreigner, name="afar")
    await packed(database, MIDNIGHT + timedelta(days=1, hours=1))


async def shown(api: Api, name: str, **params: str) -> Any:
    answer = await (await api.as_(name)).get("/usage/statistics", params={**MARCH, **params})
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.usefixtures("past")
async def test_my_statistics_are_of_my_sessions(api: Api) -> None:
    view = await shown(api, "user", by="image")
    assert (view["scope"], view["name"], view["until"]) == (
        "user",
        "user@example.org",
        "2026-03-03T00:00:00Z",
    )
    cpu = view["total"]["slots"]["cpu"]
    assert {name: cpu[name] for name in ("held", "peak", "measured", "used", "unused")} == {
        "held": 8000,
        "peak": 4000,
        "measured": 4000,
        "used": 1600,
        "unused": 2400,
    }
    assert (cpu["utilisation"], cpu["cost"], cpu["worst"]["name"]) == (0.4, None, "lazy")
    assert cpu["worst"]["owner"]["email"] == "user@example.org"
    assert cpu["worst"]["unused"] == 1900
    assert (view["total"]["session_hours"], view["total"]["session_peak"]) == (4, 2)
    assert view["total"]["waits"] == {
        "sessions": 2,
        "p50_s": 0,
        "p90_s": pytest.approx(100, rel=0.05),
        "p99_s": pytest.approx(100, rel=0.05),
    }
    assert [row["id"] for row in view["items"]] == ["a:1", "b:1"]
    assert [row["slots"]["cpu"]["utilisation"] for row in view["items"]] == [0.75, 0.05]
    assert view["days"] == [
        {
            "day": "2026-03-02",
            "held": {"cpu": 8000, "mem": 16 * GIB},
            "used": {"cpu": 1600, "mem": 2 * GIB},
        }
    ]


@pytest.mark.usefixtures("past")
async def test_a_report_of_the_site_has_all_rows_and_what_they_cost(api: Api) -> None:
    await set_site(api, slot_prices={"cpu": 0.5, "mem": 0.25}, currency="JPY")
    view = await shown(api, "superadmin", scope="site", by="domain")
    assert (view["currency"], view["prices"]) == ("JPY", {"cpu": 0.5, "mem": 0.25})
    # 8 core-hours and 16 GiB-hours of the user, half as much of the foreigner.
    assert [(row["label"], row["cost"]) for row in view["items"]] == [("default", 8), ("abroad", 4)]
    assert (view["total"]["cost"], view["total"]["session_hours"]) == (12, 6)
    # Sessions of different rows at the same time add up in the peak of the total.
    assert [row["session_peak"] for row in [*view["items"], view["total"]]] == [2, 1, 3]
    first = await shown(api, "superadmin", scope="site", by="user", limit="1")
    assert ([row["label"] for row in first["items"]], first["omitted"]) == (["user@example.org"], 1)
    assert first["total"] == view["total"]
    by_group = await shown(api, "superadmin", scope="site", by="group")
    assert [row["label"] for row in by_group["items"]] == ["default"]


@pytest.mark.usefixtures("past")
async def test_a_file_has_a_line_per_slot_in_units_for_people(api: Api) -> None:
    await set_site(api, slot_prices={"cpu": 0.5})
    admin = await api.as_("superadmin")
    answer = await admin.get("/usage/statistics/export", params={**MARCH, "scope": "site", "by": "domain"})
    assert answer.headers["content-type"].startswith("text/csv")
    assert 'filename="statistics-site-2026-03-01-2026-03-31.csv"' in answer.headers["content-disposition"]
    lines = list(csv.DictReader(io.StringIO(answer.text)))
    assert [(line["name"], line["slot"], line["unit"], line["slot_hours"]) for line in lines] == [
        ("default", "cpu", "core", "8.0"),
        ("default", "mem", "GiB", "16.0"),
        ("abroad", "cpu", "core", "4.0"),
        ("abroad", "mem", "GiB", "8.0"),
        ("", "cpu", "core", "12.0"),
        ("", "mem", "GiB", "24.0"),
    ]
    assert (lines[0]["cost"], lines[1]["cost"], lines[0]["most_unused_session"]) == ("4.0", "", "lazy")


@pytest.mark.usefixtures("past")
async def test_one_reads_statistics_of_oneself_and_of_what_one_administers(api: Api) -> None:
    user, head, lead = await api.as_("user"), await domain_admin(api), await project_admin(api)
    scopes = {
        "site": {"scope": "site"},
        "group": {"scope": "group", "ref": "default"},
        "domain": {"scope": "domain", "ref": "default"},
        "project": {"scope": "project", "ref": api.people.project},
        "user": {"scope": "user", "ref": "user@example.org"},
        "self": {},
    }

    async def may(who: Any) -> set[str]:
        paths = ("/usage/statistics", "/usage/statistics/export")
        answers = {name: [await who.get(path, params=of) for path in paths] for name, of in scopes.items()}
        assert {one.status_code for both in answers.values() for one in both} <= {200, 403, 404}
        assert all(len({one.status_code for one in both}) == 1 for both in answers.values())
        return {name for name, both in answers.items() if both[0].status_code == 200}

    assert await may(user) == {"user", "self"}
    assert await may(lead) == {"project", "self"}
    assert await may(head) == {"domain", "project", "user", "self"}
    assert await may(await api.as_("superadmin")) == set(scopes)
    assert await may(await api.as_("foreigner")) == {"self"}


@pytest.mark.parametrize(
    "params",
    [
        {"scope": "node", "ref": "n1"},
        {"from": "2026-03-02", "to": "2026-03-01"},
        {"from": "2024-01-01", "to": "2026-03-01"},
        {"from": "2024-01-01"},
        {"from": "March"},
        {"scope": "domain"},
    ],
)
async def test_what_has_no_statistics_is_refused(api: Api, params: dict[str, str]) -> None:
    answer = await (await api.as_("superadmin")).get("/usage/statistics", params=params)
    assert status_and_code(answer)[0] == 422, answer.text


async def test_a_period_reads_its_days_and_no_session_or_allocation(api: Api) -> None:
    """A million ended sessions of a month are some thousand rows by day, owner, project, group and image."""
    await sql(
        api.database,
        "INSERT INTO usage_days SELECT DATE '2025-01-01' + d, 'o' || o, 'p' || o % 9, 'g', 'i', 'cpu', 'd',"
        " array_fill(1.0, ARRAY[24]), 1, 1, NULL, NULL FROM generate_series(0, 364) d, generate_series(1, 99) o",
    )
    await sql(
        api.database,
        "INSERT INTO device_energy SELECT DATE '2025-01-01' + d, 's' || d || '-' || o, 'n', 'g', 'cuda.device',"
        " 'o' || o, 'p' || o % 9, 'g', 'i', 'd', 'm', 1, 1 FROM generate_series(0, 364) d, generate_series(1, 99) o",
    )
    await sql(api.database, "ANALYZE usage_days, device_energy")
    first = datetime(2025, 6, 1, tzinfo=UTC).date()
    for scope, index in (
        (UsageScope.SITE, r"Index Cond: \(\(day >= "),
        (UsageScope.USER, "ix_(usage_days|device_energy)_owner_id_day"),
        (UsageScope.PROJECT, "ix_(usage_days|device_energy)_project_id_day"),
    ):
        plan = await plans(
            api.database,
            lambda tx, scope=scope: queries.load(
                tx,
                scope,
                "o5" if scope is UsageScope.USER else "p5",
                StatisticsBy.IMAGE,
                first,
                first + timedelta(days=29),
            ),
        )
        assert len(re.findall(index, plan)) == 5, plan
        assert "Seq Scan" not in plan
        assert "on allocations" not in plan
        assert "on sessions" not in plan
