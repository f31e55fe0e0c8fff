"""/maintenance: checks, consistency, versions and the support bundle."""

import io
import json
import zipfile
from dataclasses import dataclass

import pytest
from installation import Api
from people import PASSWORD, eventually
from sqlalchemy import text

from carrel import version
from carrel.core.clock import SystemClock
from carrel.core.ids import EngineId
from carrel.db import leader
from carrel.engines.port import Engine, EngineUnavailable, Observed, ObservedState
from carrel.nodes.engines.connections import Engines
from carrel.server.founding import ADMIN_PASSWORD
from carrel.server.maintenance import consistency
from carrel.server.maintenance.consistency import Difference, DifferenceKind

SECRET = "correct-horse-7-battery"


async def checks(api: Api) -> dict[str, tuple[str, str]]:
    answer = await (await api.as_("superadmin")).get("/maintenance/checks")
    assert answer.status_code == 200, answer.text
    return {one["name"]: (one["state"], one["detail"]) for one in answer.json()["items"]}


async def test_a_working_installation_passes_its_checks(living: Api):
    async def without_faults() -> bool:
        shown = await checks(living)
        faults = {name for name, (state, _) in shown.items() if state != "ok"}
        return faults - {"kernel_limits", "disk"} == {"gateway", "mail"}

    assert await eventually(without_faults), "it has neither a gateway nor a mail server"


async def test_each_check_fails_for_its_own_reason(api: Api):
    services = api.services
    assert (await checks(api))["controllers"][0] == "failed", "nobody leads"
    chief = await leader.lead(api.database.url)
    assert (await checks(api))["controllers"][0] == "ok"
    await chief.resign()
    file = services.settings.data_dir / ADMIN_PASSWORD
    file.write_text("of nobody\n")
    assert (await checks(api))["first_password"][0] == "ok"
    file.write_text(PASSWORD + "\n")
    assert (await checks(api))["first_password"][0] == "warning"
    async with api.database.transaction() as tx:
        await tx.execute(text("UPDATE engines SET state = 'DOWN', last_error = 'It burns.'"))
        await tx.execute(text("UPDATE alembic_version SET version_num = '0001'"))
    shown = await checks(api)
    assert shown["engine_state"] == ("failed", "It burns.")
    assert shown["schema"][0] == "failed"
    settings = services.settings.model_copy(update={"public_url": "http://carrel.example.org"})
    api.replace_services(settings=settings)
    assert (await checks(api))["transport"][0] == "warning"


@dataclass
class OneEngine:
    """The engines of an installation, of which each lists these containers."""

    listed: list[Observed] | EngineUnavailable

    async def of(self, engine: EngineId) -> Engine:
        return self  # type: ignore[return-value]

    async def list(self) -> list[Observed]:
        if isinstance(self.listed, EngineUnavailable):
            raise self.listed
        return self.listed


async def compared(api: Api, engines: Engines | OneEngine) -> list[Difference]:
    report = await consistency.report(api.database, engines, SystemClock())  # type: ignore[arg-type]
    return report.differences


async def test_the_ledger_is_compared_with_the_engines_and_with_itself(living: Api):
    user = await living.as_("user")
    made = await user.start()
    await living.until(user, made["id"], "RUNNING")
    admin = await living.as_("superadmin")
    report = (await admin.get("/maintenance/consistency")).json()
    assert (report["containers"], report["differences"]) == (1, [])
    assert [one["containers"] for one in report["engines"]] == [1]
    assert report["allocations"] == 2
    async with living.database.transaction() as tx:
        container = (await tx.execute(text("SELECT id FROM containers"))).scalar_one()
    own = Observed(container, ObservedState.RUNNING, None)
    stranger = Observed("stranger", ObservedState.RUNNING, None)
    assert [(one.kind, one.subject) for one in await compared(living, OneEngine([own, stranger]))] == [
        (DifferenceKind.ORPHAN, "stranger")
    ]
    assert [(one.kind, one.subject) for one in await compared(living, OneEngine([]))] == [
        (DifferenceKind.MISSING, container)
    ]
    away = await consistency.report(living.database, OneEngine(EngineUnavailable("Gone.")), SystemClock())  # type: ignore[arg-type]
    assert [(one.containers, one.error) for one in away.engines] == [(None, "Gone.")]


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ("UPDATE allocations SET released_at = now()", DifferenceKind.UNHELD),
        ("UPDATE allocations SET amount = amount * 1000000 WHERE slot = 'cpu'", DifferenceKind.OVERFULL),
        ("UPDATE allocations SET devices = '{\"gpu0\": 1001}' WHERE slot = 'cpu'", DifferenceKind.DEVICE),
        ("UPDATE containers SET state = 'GONE'", DifferenceKind.HELD),
    ],
)
async def test_a_broken_ledger_is_reported(living: Api, change: str, kind: DifferenceKind):
    user = await living.as_("user")
    made = await user.start()
    await living.until(user, made["id"], "RUNNING")
    async with living.database.transaction() as tx:
        await tx.execute(text("SET LOCAL session_replication_role = replica"))
        await tx.execute(text(change))
        # Before controllers see it.
        ledger = await consistency.of_ledger(tx)
    assert kind in {one.kind for one in ledger}


async def test_versions_and_licences_are_shown(api: Api):
    admin = await api.as_("superadmin")
    shown = (await admin.get("/maintenance/information")).json()
    assert shown["version"] == version.full()
    assert shown["database"].startswith("PostgreSQL ")
    packages = {one["name"].lower(): one for one in shown["packages"] if one["part"] == "server"}
    assert packages["fastapi"]["licence"].startswith("MIT")
    assert "starlette" in packages, "required by FastAPI"
    assert "psycopg-binary" in packages, "required by an extra"
    assert "pytest" not in packages, "only for development"


async def test_a_support_bundle_has_everything_but_secrets(api: Api):
    admin = await api.as_("superadmin")
    logs = api.services.settings.data_dir / "logs"
    logs.mkdir()
    long_line = "x" * 1000
    (logs / "api.log").write_text(
        "first line\n"
        + f"{long_line}\n" * 3000
        + f"connecting to postgresql://carrel:{SECRET}@db/carrel\n"
        + f'header Authorization: Bearer {SECRET}\n"password": "{SECRET}"\n'
        + "last line\n"
    )
    mail = {"mail_host": "smtp.example.org", "mail_sender": "carrel@example.org", "mail_password": SECRET}
    assert (await admin.patch("/site", mail)).status_code == 200
    answer = await admin.get("/maintenance/bundle")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/zip")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        files = {name: archive.read(name).decode() for name in archive.namelist()}
    assert set(files) == {
        "information.json",
        "checks.json",
        "consistency.json",
        "settings.json",
        "logs/api.log",
    }
    assert json.loads(files["settings.json"])["site"]["mail_host"] == "smtp.example.org"
    assert "last line" in files["logs/api.log"]
    assert "first line" not in files["logs/api.log"], "only the end of a log"
    everything = "".join(files.values())
    assert SECRET not in everything
    assert api.services.settings.key().hex() not in everything
    entries = (await admin.get("/audit", params={"action": "maintenance.bundle"})).json()["items"]
    assert [one["outcome"] for one in entries] == ["done"]
