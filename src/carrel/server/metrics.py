"""Metrics for Prometheus: those of this process, and gauges read from the database on each scrape."""

import shutil
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path

from fastapi import APIRouter, Response
from prometheus_client import REGISTRY, CollectorRegistry, Gauge, Metric, disable_created_metrics
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy import func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.clock import Clock
from carrel.core.errors import Unavailable
from carrel.http.auth import CurrentActor, names
from carrel.http.services import Services, ServicesOf
from carrel.images import watched_images
from carrel.nodes import device_conditions, ledger
from carrel.queue import held
from carrel.queue.held import SIGN_IN, Holder
from carrel.queue.ledger_schemas import By
from carrel.sessions.pending_since import WAITS_FOR_OTHERS, WAITS_SINCE
from carrel.site import service as site
from carrel.tables.engines import EngineRow, EngineState
from carrel.tables.folders import VFolder
from carrel.tables.groups import ResourceGroup
from carrel.tables.nodes import IS_MACHINE, Node
from carrel.tables.session_states import LIFECYCLE, SessionState
from carrel.tables.sessions import IS_LIVE, Container, Session
from carrel.tables.storage_hosts import HostState, StorageHost
from carrel.tables.tenancy import Domain, Project, User
from carrel.tables.usage import Sample
from carrel.usage.service import INTERVAL_S

router = APIRouter(tags=["server"])
# The creation time of each series would double the number of series.
disable_created_metrics()  # type: ignore[no-untyped-call]
_DISK_FREE = Gauge("carrel_disk_free_bytes", "Free space of the data directory's file system.")
_DISK_SIZE = Gauge("carrel_disk_size_bytes", "Size of the data directory's file system.")
_DATABASE_UP = Gauge("carrel_database_up", "1 when the database answered this scrape, else 0.")


@router.get(
    "/metrics",
    operation_id="metrics.show",
    summary="Show Prometheus metrics",
    openapi_extra=names("metrics.read"),
    response_class=Response,
    responses={
        200: {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "The metrics"}
    },
)
async def show(services: ServicesOf[Services], actor: CurrentActor) -> Response:
    """Metrics of this process, the queue and the capacity, in the text format of Prometheus."""
    _look_at_disk(services.settings.data_dir)
    try:
        async with services.database.transaction() as tx:
            gauges = await _gauges(tx, services.clock)
        _DATABASE_UP.set(1)
    except Unavailable:
        # The authentication of the request is cached for a while; the other values should be current.
        gauges = []
        _DATABASE_UP.set(0)
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Once(gauges))
    return Response(generate_latest(REGISTRY) + generate_latest(registry), media_type=CONTENT_TYPE_LATEST)


def _look_at_disk(data_dir: Path) -> None:
    try:
        space = shutil.disk_usage(data_dir)
    except OSError:
        return
    _DISK_FREE.set(space.free)
    _DISK_SIZE.set(space.total)


class _Once(Collector):
    """Supplies a registry with prepared metrics."""

    def __init__(self, gauges: Iterable[Metric]) -> None:
        self._gauges = gauges

    def collect(self) -> Iterator[Metric]:
        yield from self._gauges


async def _gauges(tx: AsyncSession, clock: Clock) -> list[Metric]:
    return [
        await _held(tx),
        await _capacity(tx),
        *await _devices(tx),
        await _engines(tx),
        await _sessions(tx),
        *await _queue(tx, clock),
        *await _storage(tx),
        await _image_updates(tx),
        *await _database(tx),
        *(await _containers(tx, clock) if (await site.settings(tx)).session_metrics else ()),
    ]


async def _held(tx: AsyncSession) -> Metric:
    gauge = GaugeMetricFamily(
        "carrel_held",
        "What sessions hold: slots in base units (millicores, bytes, devices), and how many sessions.",
        labels=("by", "name", "slot"),
    )
    for by in By:
        for holder in await held.holders(tx, by):
            for slot, amount in {**holder.slots, "sessions": holder.sessions}.items():
                gauge.add_metric((by, _name(by, holder), slot), amount)
    return gauge


def _name(by: By, holder: Holder) -> str:
    """A unique label value: keypairs of one user may share a name but not an access key."""
    return holder.id if by is By.KEYPAIR and not holder.id.startswith(SIGN_IN) else holder.label


async def _capacity(tx: AsyncSession) -> Metric:
    gauge = GaugeMetricFamily(
        "carrel_capacity",
        "What sessions may use of a node, in base units.",
        labels=("node", "engine", "slot"),
    )
    known = select(Node, EngineRow.name).join(EngineRow, EngineRow.id == Node.engine_id).where(IS_MACHINE)
    for node, engine in await tx.execute(known.order_by(Node.name, EngineRow.name)):
        for slot, amount in ledger.offered(node).items():
            gauge.add_metric((node.name, engine, slot), amount)
    return gauge


_OF_DEVICES = {
    "healthy": ("healthy", "1 while an accelerator is offered to sessions, 0 while it is out of order."),
    "utilization_percent": ("utilization_percent", "Utilisation of an accelerator."),
    "mem_used_bytes": ("memory_used_bytes", "Memory in use of an accelerator."),
    "mem_total_bytes": ("memory_size_bytes", "Memory of an accelerator."),
    "temperature_c": ("temperature_celsius", "Temperature of an accelerator."),
    "power_w": ("power_watts", "Power that an accelerator draws."),
    "uncorrected_errors": (
        "uncorrected_errors",
        "Uncorrected memory errors since an accelerator's last reset.",
    ),
}


async def _devices(tx: AsyncSession) -> list[Metric]:
    """Accelerators as engines reported them in the last minute; what is not known is absent. One that is out of order
    remains so until it is reported as healthy.
    """
    gauges = {
        measure: GaugeMetricFamily(
            f"carrel_device_{name}", help_, labels=("node", "engine", "device", "model")
        )
        for measure, (name, help_) in _OF_DEVICES.items()
    }
    known = select(Node.id, Node.name, EngineRow.name).join(EngineRow, EngineRow.id == Node.engine_id)
    nodes = {id: names for id, *names in await tx.execute(known.where(IS_MACHINE).order_by(Node.name))}
    conditions = await device_conditions.of_nodes(tx, nodes)
    for node, (name, engine) in nodes.items():
        for device, one in conditions.get(node, {}).items():
            healthy = int(one.row.healthy) if one.fresh or not one.row.healthy else None
            values = {"healthy": healthy, **asdict(one.metrics)}
            for measure, gauge in gauges.items():
                if (value := values[measure]) is not None:
                    gauge.add_metric((name, engine, device, one.row.description["model"]), value)
    return list(gauges.values())


async def _engines(tx: AsyncSession) -> Metric:
    """State of the engines as last observed by the controllers."""
    gauge = GaugeMetricFamily(
        "carrel_engine_up", "1 while an engine answers, 0 while it does not.", labels=("engine",)
    )
    for name, state in await tx.execute(select(EngineRow.name, EngineRow.state).order_by(EngineRow.name)):
        gauge.add_metric((name,), state == EngineState.READY)
    return gauge


async def _sessions(tx: AsyncSession) -> Metric:
    gauge = GaugeMetricFamily("carrel_sessions", "Live sessions by state.", labels=("state",))
    rows = await tx.execute(select(Session.state, func.count()).where(IS_LIVE).group_by(Session.state))
    counts = {state: count for state, count in rows}
    for state in sorted(LIFECYCLE.live):
        gauge.add_metric((state,), counts.get(state, 0))
    return gauge


async def _queue(tx: AsyncSession, clock: Clock) -> list[Metric]:
    """Lengths of the queues; sessions that are not due yet do not count."""
    length = GaugeMetricFamily(
        "carrel_scheduler_queue_length",
        "Sessions of a resource group that wait for a node.",
        labels=("group",),
    )
    oldest = GaugeMetricFamily(
        "carrel_pending_oldest_seconds",
        "How long the session that has waited longest in a resource group has waited; 0 when none waits.",
        labels=("group",),
    )
    now = clock.now()
    due = (func.greatest(Session.created_at, Session.not_before) <= now) & ~WAITS_FOR_OTHERS
    rows = await tx.execute(
        select(
            ResourceGroup.name,
            func.count(Session.id),
            func.min(WAITS_SINCE),
        )
        .outerjoin(
            Session,
            (Session.group_id == ResourceGroup.id) & (Session.state == SessionState.PENDING) & due,
        )
        .group_by(ResourceGroup.name)
    )
    for name, count, since in rows:
        length.add_metric((name,), count)
        oldest.add_metric((name,), (now - since).total_seconds() if since else 0)
    return [length, oldest]


async def _storage(tx: AsyncSession) -> list[Metric]:
    """Storage hosts as last observed; a host without observation has no capacity yet."""
    folders = GaugeMetricFamily(
        "carrel_storage_folder_bytes",
        "What the folders on a storage host take, as last measured.",
        labels=("host",),
    )
    room = GaugeMetricFamily(
        "carrel_storage_bytes",
        "Capacity of a storage host's file system, and what is free there.",
        labels=("host", "what"),
    )
    answers = GaugeMetricFamily(
        "carrel_storage_up", "1 while a storage host can be used, 0 while it cannot.", labels=("host",)
    )
    used = (
        select(VFolder.host_id, func.sum(VFolder.used_bytes).label("bytes"))
        .group_by(VFolder.host_id)
        .subquery()
    )
    rows = await tx.execute(
        select(StorageHost, func.coalesce(used.c.bytes, 0))
        .outerjoin(used, used.c.host_id == StorageHost.id)
        .order_by(StorageHost.name)
    )
    for host, amount in rows:
        folders.add_metric((host.name,), amount)
        answers.add_metric((host.name,), host.state == HostState.OK)
        if host.total_bytes is not None and host.free_bytes is not None:
            room.add_metric((host.name, "total"), host.total_bytes)
            room.add_metric((host.name, "free"), host.free_bytes)
    return [folders, room, answers]


async def _image_updates(tx: AsyncSession) -> Metric:
    gauge = GaugeMetricFamily(
        "carrel_image_updates", "Watched images by what is known of their tags.", labels=("state",)
    )
    for state, count in (await watched_images.counts(tx)).items():
        gauge.add_metric((state,), count)
    return gauge


_OF_CONTAINERS = {
    Sample.cpu_millis: ("cpu_millicores", "CPU that a container uses."),
    Sample.mem_bytes: ("memory_bytes", "Memory that a container uses."),
    Sample.accelerator_percent: ("accelerator_percent", "Mean utilisation of a container's accelerators."),
    Sample.accelerator_mem_percent: (
        "accelerator_memory_percent",
        "Mean of the memory of its accelerators that a container uses.",
    ),
    Sample.read_rate: ("disk_read_bytes_per_second", "What a container reads from disks."),
    Sample.write_rate: ("disk_write_bytes_per_second", "What a container writes to disks."),
    Sample.rx_rate: ("network_receive_bytes_per_second", "What a container receives."),
    Sample.tx_rate: ("network_transmit_bytes_per_second", "What a container sends."),
    Sample.disk_bytes: ("disk_bytes", "What a container has written outside its folders."),
}


async def _containers(tx: AsyncSession, clock: Clock) -> list[Metric]:
    """The newest usage of each running container; what is not measured is absent."""
    labels = ("session", "name", "container", "owner", "project")
    gauges = {
        column: GaugeMetricFamily(f"carrel_session_{name}", text_, labels=labels)
        for column, (name, text_) in _OF_CONTAINERS.items()
    }
    rows = await tx.execute(
        select(Session, Container, User.email, Domain.name + "/" + Project.name, *_OF_CONTAINERS)
        .join(Container, Container.id == Sample.container_id)
        .join(Session, Session.id == Container.session_id)
        .join(User, User.id == Session.owner_id)
        .join(Project, Project.id == Session.project_id)
        .join(Domain, Domain.id == Session.domain_id)
        .where(Sample.at > clock.now() - timedelta(seconds=3 * INTERVAL_S), IS_LIVE)
        .distinct(Sample.container_id)
        .order_by(Sample.container_id, Sample.at.desc())
    )
    for session, container, owner, project, *values in rows:
        for gauge, value in zip(gauges.values(), values, strict=True):
            if value is not None:
                gauge.add_metric((session.id, session.name, container.name, owner, project), value)
    return list(gauges.values())


# Transactions of other clients of the database count too: they prevent the removal of old rows.
_DATABASE = text("""
    SELECT pg_database_size(current_database()),
        (SELECT coalesce(extract(epoch FROM max(clock_timestamp() - xact_start)), 0) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid())
""")


async def _database(tx: AsyncSession) -> list[Metric]:
    size, oldest_s = (await tx.execute(_DATABASE)).one()
    return [
        GaugeMetricFamily("carrel_database_size_bytes", "Size of the database.", value=size),
        GaugeMetricFamily(
            "carrel_database_oldest_transaction_seconds",
            "Age of the oldest transaction that is open in the database; 0 when there is none.",
            value=float(oldest_s),
        ),
    ]
