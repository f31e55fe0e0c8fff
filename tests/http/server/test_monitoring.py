"""Alert rules, dashboard and documents name metrics that a scrape has, with their labels."""

import json
import re
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from accelerator_kit import ScriptedDevices
from aiohttp import web
from auth_kit import set_site
from databases import sql
from gateway_kit import Gate, gate
from installation import Api
from metrics_kit import parsed
from own_prometheus import Prometheus, prometheus
from people import eventually
from prometheus_client import REGISTRY

import carrel.engines.docker.api
import carrel.gateway.metrics  # noqa: F401 - in the same registry as those of the API
from carrel.accelerators.port import DeviceMetrics
from carrel.core.clock import SystemClock
from carrel.signin.keypairs import tokens

__all__ = ["gate"]

ROOT = Path(__file__).parents[3]
RULES = ROOT / "deploy" / "prometheus" / "carrel.rules.yml"
RULE_TESTS = RULES.with_name("carrel.test.yml")
DASHBOARDS = sorted((ROOT / "deploy" / "grafana").glob("*.json"))
DOCUMENT = ROOT / "docs" / "howto" / "monitor.md"
OF_SCRAPES = {"job", "instance"}
_NAME = re.compile(r"\b((?:carrel|process|python)_[a-z0-9_]+)\b(?:\{([^}]*)\})?")
_SELECTED = re.compile(r"(\w+)\s*(?:=~|!~|!=|=)")
_GROUPED = re.compile(r"\b(?:by|without)\s*\(([^)]*)\)")
_SHOWN = re.compile(r"\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}")
_REPLACED = re.compile(r'label_replace\([^"]*(?:"[^"]*"[^"]*)*?,\s*"(\w+)",\s*"\$1"')
_CHOSEN = re.compile(r"\$(project|owner|session)\b")
"""Variables of a dashboard, which are ".*" unless somebody chooses."""
_RATES_OVER = "10m"
"""What Grafana would write for `$__rate_interval`; as long as the test may take."""
EMPTY_WHEN_WELL = {
    "Failing apps per second",
    "Denials per second",
    "Failed steps per second",
    "Engine requests (p95)",
    "Engine errors per second",
}
"""Panels about failures, and about an engine that is not the tests' fake one."""


@dataclass(frozen=True)
class Query:
    """shown: labels that the text beside it shows."""

    where: str
    expr: str
    shown: frozenset[str]


def alerts() -> list[dict[str, object]]:
    groups = yaml.safe_load(RULES.read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def queries() -> Iterator[Query]:
    for rule in alerts():
        shown = frozenset(_SHOWN.findall(json.dumps(rule["annotations"])))
        yield Query(str(rule["alert"]), str(rule["expr"]), shown)
    for dashboard in DASHBOARDS:
        for panel in json.loads(dashboard.read_text())["panels"]:
            for target in panel.get("targets", []):
                shown = frozenset(_SHOWN.findall(target["legendFormat"]))
                yield Query(panel["title"], target["expr"], shown)


async def exported(api: Api) -> Mapping[str, frozenset[str]]:
    """Labels of everything that a scrape has or could have, by name as queries write it."""
    admin = await api.as_("superadmin")
    await set_site(api, session_metrics=True)
    # What is held has labels once something is.
    await measured(api, (await (await api.as_("user")).start())["id"])
    scraped = parsed((await admin.get("/metrics")).text)
    labels_of: dict[str, frozenset[str]] = {}
    for name, kind in scraped.types.items():
        collector = REGISTRY._names_to_collectors.get(name)
        labels = frozenset(getattr(collector, "_labelnames", ()))
        if kind == "counter":
            labels_of[f"{name}_total"] = labels | scraped.labels.get(f"{name}_total", set())
        elif kind == "histogram":
            labels_of.update(
                {f"{name}_count": labels, f"{name}_sum": labels, f"{name}_bucket": labels | {"le"}}
            )
        else:
            labels_of[name] = labels | scraped.labels.get(name, set())
    return labels_of


async def measured(api: Api, session: str) -> None:
    """Until the session runs; with a sample and a device that have everything, now."""
    api.engine.world.equip("local", ScriptedDevices(DeviceMetrics(1, 2, 3, 4, 5, 6)))
    await api.until(await api.as_("superadmin"), session, "RUNNING")
    for container in api.engine.world.containers.values():
        container.accelerator_percent = container.accelerator_mem_percent = 50
    await sql(
        api.database,
        "INSERT INTO usage_samples SELECT id, now(), 1, 2, 3, 4, 5, 6, 7, 8, 9 FROM containers"
        " WHERE session_id = :session ON CONFLICT DO NOTHING",
        session=session,
    )

    async def reported() -> bool:
        return bool(await sql(api.database, "SELECT 1 FROM device_conditions"))

    await eventually(reported)


async def test_every_query_is_about_metrics_and_labels_that_there_are(living: Api):
    known = await exported(living)
    seen = list(queries())
    assert len(seen) > 50
    for query in seen:
        used = _NAME.findall(query.expr)
        assert used or "up{" in query.expr, query
        labels = set(OF_SCRAPES)
        for name, selector in used:
            assert name in known, (query.where, name)
            labels |= known[name]
            assert set(_SELECTED.findall(selector)) <= known[name] | OF_SCRAPES, (query.where, name)
        labels |= set(_REPLACED.findall(query.expr))
        grouped = {label.strip() for text in _GROUPED.findall(query.expr) for label in text.split(",")}
        assert grouped <= labels, query.where
        assert query.shown <= (grouped or labels), (query.where, "shows a label that is summed up")


async def test_the_document_names_every_metric_and_no_other(living: Api):
    families = {
        name.removesuffix("_bucket")
        for name in await exported(living)
        if name.startswith("carrel_") and not name.endswith(("_count", "_sum"))
    }
    documented = set(re.findall(r"`(carrel_[a-z0-9_]+)`", DOCUMENT.read_text()))
    assert documented == families


def test_every_alert_is_tested_and_explained():
    named = [str(rule["alert"]) for rule in alerts()]
    assert len(named) == len(set(named))
    tests = yaml.safe_load(RULE_TESTS.read_text())["tests"]
    fires = {each["alertname"] for test in tests for each in test["alert_rule_test"] if each["exp_alerts"]}
    rests = {
        each["alertname"] for test in tests for each in test["alert_rule_test"] if not each["exp_alerts"]
    }
    assert fires == rests == set(named)
    assert set(re.findall(r"^\| `(Carrel\w+)`", DOCUMENT.read_text(), re.MULTILINE)) == set(named)


def promtool(*words: str, stdin: str | None = None) -> "subprocess.CompletedProcess[str]":
    program = shutil.which("promtool")
    assert program, "promtool is missing: apt-get install --no-install-recommends prometheus"
    return subprocess.run(
        [program, *words], cwd=RULES.parent, input=stdin, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("command", [("check", "rules", RULES.name), ("test", "rules", RULE_TESTS.name)])
def test_prometheus_accepts_the_rules_and_their_tests_pass(command: tuple[str, ...]):
    done = promtool(*command)
    assert done.returncode == 0, done.stdout + done.stderr


async def test_prometheus_finds_no_fault_with_a_scrape(living: Api):
    answer = await (await living.as_("superadmin")).get("/metrics")
    done = promtool("check", "metrics", stdin=answer.text)
    assert done.returncode == 0, done.stdout + done.stderr


@asynccontextmanager
async def scraping(living: Api, gate: Gate, folder: Path) -> AsyncIterator[Prometheus]:
    """A Prometheus with the document's configuration and the rules, over an API and a gateway."""
    documented = re.search(r"```yaml\n# prometheus.yml\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    assert documented
    async with living.database.transaction() as tx:
        made = await tokens.create(
            tx,
            SystemClock(),
            living.people.superadmin,
            name="prometheus",
            scopes=("metrics.read",),
            lifetime=None,
        )
    targets = {"carrel-api": f"127.0.0.1:{living.port}", "carrel-gateway": f"127.0.0.1:{gate.port}"}
    configuration = yaml.safe_load(documented[1])
    async with prometheus(
        folder, configuration=configuration, rules=RULES, targets=targets, token=made.secret
    ) as running:
        yield running


async def busy(living: Api, gate: Gate) -> None:
    """Have something to show: a session that runs, one that waits for its limit, an app that answers."""
    admin, user = await living.as_("superadmin"), await living.as_("user")
    await set_site(living, session_metrics=True)
    await measured(living, (await user.start())["id"])
    await admin.patch("/policies/default-user", {"limits": {"sessions": 1}})
    await user.start()

    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=await request.read())

    port = await gate.app(answer)

    async def answered() -> bool:
        # The engine has no container for it: the controllers may have ended it already.
        session = await gate.session(port)
        return (await gate.get(session, cookie=await gate.cookie(session), data=b"x")).status == 200

    await eventually(answered)


async def test_a_prometheus_that_scrapes_answers_every_query_of_rules_and_dashboard(
    living: Api, gate: Gate, tmp_path: Path
):
    async with scraping(living, gate, tmp_path / "prometheus") as scraper:
        await scraper.until_queried('up{job="carrel-api"} == 1 and on() up{job="carrel-gateway"} == 1')
        await busy(living, gate)
        await scraper.until_queried("rate(carrel_gateway_requests_total[10m]) > 0")
        await scraper.until_queried("carrel_session_disk_bytes")
        metadata = await scraper.read("metadata")
        for query in queries():
            expr = _CHOSEN.sub(".*", query.expr.replace("$__rate_interval", _RATES_OVER))
            if query.where in EMPTY_WHEN_WELL or query.where.startswith("Carrel"):
                await scraper.query(expr)
            else:
                await scraper.until_queried(expr)
            for name, _ in _NAME.findall(query.expr):
                family = re.sub("_(bucket|count|sum)$", "", name)
                assert name in metadata or family in metadata, (query.where, name)
        groups = (await scraper.read("rules"))["groups"]
        evaluated = {rule["name"]: rule for group in groups for rule in group["rules"]}
        assert set(evaluated) == {str(rule["alert"]) for rule in alerts()}
        assert not {name: rule["lastError"] for name, rule in evaluated.items() if rule.get("lastError")}
