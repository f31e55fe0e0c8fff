"""The containers of placed sessions as their engines are to have them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from carrel.accounts.dotfiles import service as dotfiles
from carrel.apps.layer_apps import offered
from carrel.core.ids import EngineId
from carrel.db.encryption import SecretBox
from carrel.engines import barrier
from carrel.engines.port import IDLE, ContainerSpec, Mount, run_once
from carrel.nodes.service import Address
from carrel.sessions import clusters, environment, startup, topology
from carrel.sessions.spec import SessionSpec
from carrel.tables.dotfiles import Dotfile
from carrel.tables.session_states import ClusterPlacement, Rights, SessionKind
from carrel.tables.sessions import Container, Session


@dataclass(frozen=True)
class PlacedContainer:
    """One container to start. node: its name on the engine. devices: thousandths by device. dotfiles: of its owner.
    runtime: of its resource group; empty: the engine's usual one. layer: the app layer of its engine; empty: none.
    """

    row: Container
    node: Address
    devices: Mapping[str, int]
    dotfiles: Sequence[Dotfile]
    runtime: str = ""
    layer: str = ""

    @property
    def engine(self) -> EngineId:
        assert self.node.engine, "an engine that holds sessions is not removed"
        return self.node.engine


def container_spec(
    session: Session, member: PlacedContainer, folders: tuple[Mount, ...], seal: SecretBox, *, epoch: int
) -> ContainerSpec:
    """The `ContainerSpec` of a session's container."""
    container, requested = member.row, SessionSpec.from_json(session.spec)
    requests = requested.container_requests
    own = requests[container.index]
    command = startup.command(requested, own.command or IDLE)
    if own.command:
        command = run_once(container.id, command)
    together = len(requests) > 1
    hostname = session.name.replace("_", "-").replace(".", "-").strip("-").lower() or "session"
    return ContainerSpec(
        id=container.id,
        image=container.image,
        slots=container.slots,
        devices=member.devices,
        node=member.node.name,
        elastic=member.node.elastic,
        avoided=member.node.avoided,
        together=session.placement == ClusterPlacement.TOGETHER or session.topology == topology.NODE,
        env={
            **startup.variables(requested, container.slots),
            "CARREL_SESSION_ID": session.id,
            "CARREL_SESSION_NAME": session.name,
            **_array_variables(session, requested),
            **(clusters.variables(requests, container.index) if together else {}),
            **environment.opened(seal, own.env),
        },
        hostname=own.host if together else hostname,
        command=barrier.behind(command) if together else command,
        stdin=together,
        once=runs_once(session, container),
        ports=tuple(int(app["port"]) for app in offered(session.apps, layer=bool(member.layer))),
        mounts=folders,
        network=clusters.network(session.id, requests, container.index) if together else None,
        files=(
            *startup.files(requested, dotfiles.opened(seal, member.dotfiles), folders),
            *(clusters.files(seal, session.id, requests, container.index) if together else ()),
        ),
        shm_bytes=own.shm_bytes,
        disk_bytes=session.disk_limit_bytes,
        workdir=startup.workdir(requested),
        runtime=member.runtime,
        root=session.rights == Rights.ROOT,
        layer=member.layer,
        epoch=epoch,
    )


def _array_variables(session: Session, requested: SessionSpec) -> dict[str, str]:
    if session.array_id is None or requested.array is None:
        return {}
    return {
        "CARREL_ARRAY_ID": session.array_id,
        "CARREL_ARRAY_INDEX": str(session.array_index),
        "CARREL_ARRAY_COUNT": str(requested.array.count),
    }


def runs_once(session: Session, container: Container) -> bool:
    """True if it must not be started a second time."""
    return session.kind == SessionKind.BATCH or container.has_command
