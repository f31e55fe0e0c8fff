"""What a scan found, who sees it, and what the rule does to sessions."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from databases import sql
from fake_scanner import FakeScanner
from installation import Api, Caller, installation
from people import People, eventually
from session_kit import request

from carrel.db.database import Database

DEBIAN = "docker.io/library/debian:12"
CRITICAL = ("CVE-1", "CRITICAL"), ("CVE-2", "HIGH"), ("CVE-3", "HIGH"), ("CVE-4", "LOW")


@pytest.fixture
def scanner(tmp_path: Path) -> FakeScanner:
    return FakeScanner(tmp_path / "scanner")


@pytest.fixture
async def api(
    database: Database, people: People, tmp_path: Path, scanner: FakeScanner, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Api]:
    monkeypatch.setenv("CARREL_IMAGE_SCANNER", " ".join(scanner.command))
    async with installation(database, people, tmp_path, controllers=True) as running:
        yield running


async def scanned(caller: Caller, image: str) -> dict[str, Any]:
    """A requested scan, once it has ended."""
    begun = await caller.post("/image-scans", {"image": image})
    assert begun.status_code == 202, begun.text

    async def over() -> dict[str, Any] | None:
        shown = (await caller.get(f"/image-scans/{begun.json()['id']}")).json()
        return shown if shown["ended_at"] else None

    return await eventually(over)  # type: ignore[return-value]


async def rule(admin: Caller, **settings: object) -> None:
    changed = await admin.patch("/site", {f"image_scan_{name}": value for name, value in settings.items()})
    assert changed.status_code == 200, changed.text


async def catalogued(database: Database) -> None:
    await sql(
        database,
        "INSERT INTO images (id, name, reference, title, description, present, min_slots, apps, host, architectures)"
        " VALUES ('i', 'deb', 'debian:12', '', '', true, '{}', '[]', 'docker.io', '{}')",
    )


async def test_a_scan_has_counts_vulnerabilities_packages_and_an_sbom(api: Api, scanner: FakeScanner):
    admin = await api.as_("superadmin")
    scanner.reports(*CRITICAL)
    scan = await scanned(admin, "debian:12")
    assert (scan["reference"], scan["state"], scan["effect"]) == (DEBIAN, "done", "none")
    assert scan["counts"] == {"critical": 1, "high": 2, "medium": 0, "low": 1, "unknown": 0}
    assert (scan["scanner"], scan["packages"]) == ("trivy 0.68", 2)
    path = f"/image-scans/{scan['id']}"
    all_of_it = (await admin.get(f"{path}/vulnerabilities")).json()
    assert [one["id"] for one in all_of_it["items"]] == ["CVE-1", "CVE-2", "CVE-3", "CVE-4"]
    high = (await admin.get(f"{path}/vulnerabilities?severity=high&fixable=yes&limit=1")).json()
    assert ([one["id"] for one in high["items"]], high["next_cursor"]) == (["CVE-2"], "1")
    more = await admin.get(f"{path}/vulnerabilities?severity=high&fixable=yes&limit=1&cursor=1")
    assert ([one["id"] for one in more.json()["items"]], more.json()["next_cursor"]) == (["CVE-3"], None)
    assert [(one["cvss_score"], one["cvss_vector"], one["epss"]) for one in all_of_it["items"][:2]] == [
        (9.8, "CVSS:3.1/AV:N", None),
        (None, "", None),
    ]
    exported = await admin.get(f"{path}/vulnerabilities/export?fixable=yes")
    assert exported.headers["content-type"] == "text/csv; charset=utf-8"
    header, *lines = exported.text.splitlines()
    assert header == "id,severity,package,version,fixed,title,link,since,cvss_score,cvss_vector,epss"
    assert [line.split(",")[:5] for line in lines] == [
        [name, "high", "openssl", "1", "2"] for name in ("CVE-2", "CVE-3")
    ]
    [package] = (await admin.get(f"{path}/packages?q=apache")).json()["items"]
    assert package["name"] == "openssl"
    sbom = await admin.get(f"{path}/sbom")
    assert sbom.headers["content-type"] == "application/vnd.cyclonedx+json"
    assert (sbom.json()["bomFormat"], len(sbom.json()["vulnerabilities"])) == ("CycloneDX", 4)
    listed = (await admin.get("/image-scans?severity=high&image=debian:12&image=none:1&q=debian")).json()
    assert [one["id"] for one in listed["items"]] == [scan["id"]]
    assert (await admin.get("/image-scans?image=none:1")).json()["items"] == []


async def test_a_scan_of_another_digest_than_that_of_the_catalogue_is_outdated(
    api: Api, scanner: FakeScanner
):
    admin = await api.as_("superadmin")
    scan = await scanned(admin, "debian:12")
    assert (scan["target"], scan["outdated"]) == (DEBIAN, False)
    old, new = (f"docker.io/library/debian@sha256:{letter * 64}" for letter in "ab")
    await sql(api.database, "UPDATE image_scans SET target = :target", target=old)
    await sql(
        api.database,
        "INSERT INTO images (id, name, reference, title, description, present, min_slots, apps, host, repository, tag,"
        " digest) VALUES ('i', 'd', 'docker.io/library/debian:12', '', '', true, '{}', '[]', 'docker.io',"
        " 'library/debian', '12', :digest)",
        digest=new.partition("@")[2],
    )
    shown = (await admin.get(f"/image-scans/{scan['id']}")).json()
    assert (shown["target"], shown["outdated"]) == (old, True)
    [listed] = (await admin.get("/image-scans")).json()["items"]
    assert listed["outdated"]
    await sql(api.database, "UPDATE image_scans SET target = :target", target=new)
    assert not (await admin.get(f"/image-scans/{scan['id']}")).json()["outdated"]


async def test_the_rule_can_leave_out_what_nothing_fixes(api: Api, scanner: FakeScanner):
    admin, user = await api.as_("superadmin"), await api.as_("user")
    scanner.reports(("CVE-1", "CRITICAL"))
    await scanned(admin, "debian:12")
    await rule(admin, rule="refuse", severity="high", fixable_only=True)
    await user.start(image="debian:12")
    scanner.reports(*CRITICAL)
    await scanned(admin, "debian:12")
    refused = await user.try_start(image="debian:12")
    assert refused.json()["detail"] == f"{DEBIAN} has 2 high vulnerabilities with a fix."


async def test_people_see_scans_of_the_images_that_they_can_use(api: Api, scanner: FakeScanner):
    admin, user = await api.as_("superadmin"), await api.as_("user")
    scan = await scanned(admin, "debian:12")
    assert (await user.get("/image-scans")).json()["items"] == []
    assert (await user.get(f"/image-scans/{scan['id']}")).status_code == 404
    assert (await user.get(f"/image-scans/{scan['id']}/sbom")).status_code == 404
    assert (await user.post("/image-scans", {"image": "debian:12"})).status_code == 403
    await catalogued(api.database)
    assert len((await user.get("/image-scans?image=deb")).json()["items"]) == 1
    assert (await user.get(f"/image-scans/{scan['id']}/sbom")).status_code == 200


@pytest.mark.parametrize("image", ["-x.y/z", "a b", "", "x;y"])
async def test_what_is_no_image_is_refused(api: Api, image: str):
    admin = await api.as_("superadmin")
    assert (await admin.post("/image-scans", {"image": image})).status_code == 422


async def test_before_a_scan_has_succeeded_there_is_no_report(api: Api, scanner: FakeScanner):
    admin = await api.as_("superadmin")
    scanner.prints("no database")
    scan = await scanned(admin, "debian:12")
    assert (scan["state"], scan["scanned_at"]) == ("failed", None)
    answer = await admin.get(f"/image-scans/{scan['id']}/sbom")
    assert (answer.status_code, answer.json()["code"]) == (404, "image_scan.no_report")
    assert "not JSON" in answer.json()["hint"]


async def test_the_rule_warns_or_refuses_by_severity(api: Api, scanner: FakeScanner):
    admin, user = await api.as_("superadmin"), await api.as_("user")
    scanner.reports(*CRITICAL)
    await scanned(admin, "debian:12")
    checked = request(image="debian:12")
    assert (await user.post("/sessions/check", checked)).json()["warnings"] == []
    await rule(admin, rule="warn", severity="high")
    answer = (await user.post("/sessions/check", checked)).json()
    [warning] = answer["warnings"]
    assert (answer["code"], warning["code"]) == ("", "image.vulnerable")
    assert warning["message"] == f"{DEBIAN} has 1 critical and 2 high vulnerabilities."
    await user.start(image="debian:12")
    await rule(admin, rule="refuse")
    refused = await user.try_start(image="debian:12")
    assert (refused.status_code, refused.json()["code"]) == (403, "image.vulnerable")
    assert "exempt" in refused.json()["hint"]
    checked_again = (await user.post("/sessions/check", checked)).json()
    assert (checked_again["verdict"], checked_again["code"]) == ("never", "image.vulnerable")
    scanner.reports(("CVE-4", "LOW"))
    await scanned(admin, "debian:12")
    await user.start(image="debian:12")


async def test_an_image_that_is_pinned_by_its_digest_is_still_that_of_its_tag(api: Api, scanner: FakeScanner):
    admin, user = await api.as_("superadmin"), await api.as_("user")
    scanner.reports(*CRITICAL)
    await scanned(admin, "debian:12")
    await rule(admin, rule="refuse")
    digest = f"sha256:{'a' * 64}"
    refused = await user.try_start(image=f"debian:12@{digest}")
    assert refused.json()["code"] == "image.vulnerable"
    # Without the tag, the catalogue knows which one it is.
    assert (await user.try_start(image=f"debian@{digest}")).status_code == 201
    await sql(
        api.database,
        "INSERT INTO images (id, name, reference, title, description, present, min_slots, apps, host, repository, tag,"
        " digest) VALUES ('i', 'd', 'docker.io/library/debian:12', '', '', true, '{}', '[]', 'docker.io',"
        f" 'library/debian', '12', '{digest}')",
    )
    assert (await user.try_start(image=f"debian@{digest}")).json()["code"] == "image.vulnerable"


async def test_the_image_of_a_role_is_checked_as_well(api: Api, scanner: FakeScanner):
    admin, user = await api.as_("superadmin"), await api.as_("user")
    scanner.reports(*CRITICAL)
    await scanned(admin, "debian:12")
    await rule(admin, rule="refuse")
    roles = [{"name": "worker", "count": 1, "image": "debian:12"}]
    refused = await user.try_start(image="other:1", roles=roles)
    assert refused.json()["code"] == "image.vulnerable"


async def test_within_the_grace_people_are_warned(api: Api, scanner: FakeScanner):
    admin, user = await api.as_("superadmin"), await api.as_("user")
    scanner.reports(*CRITICAL)
    scan = await scanned(admin, "debian:12")
    await rule(admin, rule="refuse", grace_days=7)
    assert (await admin.get(f"/image-scans/{scan['id']}")).json()["effect"] == "warn"
    await user.start(image="debian:12")
    week_ago = (datetime.now(UTC) - timedelta(days=7)).date().isoformat()
    by_day = f'{{"critical": {{"{week_ago}": 1}}}}'
    # As in a report from before there were risks.
    change = "UPDATE image_reports SET risks = '[]', first_found = CAST(:by_day AS jsonb)"
    await sql(api.database, change, by_day=by_day)
    assert (await user.try_start(image="debian:12")).status_code == 403


async def test_an_exemption_has_a_reason_and_an_end_and_is_audited(api: Api, scanner: FakeScanner):
    admin, user = await api.as_("superadmin"), await api.as_("user")
    scanner.reports(*CRITICAL)
    scan = await scanned(admin, "debian:12")
    await rule(admin, rule="refuse")
    path = f"/image-scans/{scan['id']}/exemption"
    until = datetime.now(UTC) + timedelta(days=30)
    body = {"reason": "no fix yet; only offline", "until": until.isoformat()}
    assert (await user.ask("PUT", path, json=body)).status_code == 403
    for wrong in ({"reason": ""}, {"until": "2020-01-01T00:00:00Z"}, {"until": "2020-01-01T00:00:00"}):
        assert (await admin.ask("PUT", path, json=body | wrong)).status_code == 422
    made = (await admin.ask("PUT", path, json=body)).json()
    assert (made["effect"], made["exemption"]["reason"]) == ("warn", body["reason"])
    await user.start(image="debian:12")
    checked = request(image="debian:12")
    [warning] = (await user.post("/sessions/check", checked)).json()["warnings"]
    assert body["reason"] in warning["hint"]
    entries = (await admin.get("/audit?action=image.exempt")).json()["items"]
    assert entries[0]["details"]["after"]["reason"] == body["reason"]
    await sql(api.database, "UPDATE image_scans SET exempt_until = now() - interval '1 s'")
    assert (await user.try_start(image="debian:12")).status_code == 403
    await admin.ask("PUT", path, json=body)
    ended = (await admin.delete(path)).json()
    assert (ended["exemption"], ended["effect"]) == (None, "refuse")


async def test_a_scan_is_cancelled(api: Api, scanner: FakeScanner):
    admin = await api.as_("superadmin")
    scanner.hold(held=True)
    scan = (await admin.post("/image-scans", {"image": "debian:12"})).json()
    again = (await admin.post("/image-scans", {"image": "debian:12"})).json()
    assert scan["id"] == again["id"]
    await eventually(lambda: bool(scanner.seen))
    assert (await admin.post(f"/image-scans/{scan['id']}/cancel")).status_code == 200

    async def cancelled() -> bool:
        return (await admin.get(f"/image-scans/{scan['id']}")).json()["state"] == "cancelled"  # type: ignore[no-any-return]

    await eventually(cancelled)
    assert (await admin.post(f"/image-scans/{scan['id']}/cancel")).json()["code"] == "image_scan.not_open"
