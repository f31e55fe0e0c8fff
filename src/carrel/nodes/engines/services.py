"""Services of engine routes."""

from dataclasses import dataclass

from carrel.audit.services import AuditServices
from carrel.nodes.engines.connections import Engines


@dataclass(frozen=True, kw_only=True)
class EngineServices(AuditServices):
    """The engines of this process."""

    engines: Engines
