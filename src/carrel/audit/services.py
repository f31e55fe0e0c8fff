"""What the recording of refused requests works with."""

from dataclasses import dataclass

from carrel.audit.refusals import Refusals
from carrel.http.services import Services


@dataclass(frozen=True, kw_only=True)
class AuditServices(Services):
    """`refusals`: records what was refused, and not too often."""

    refusals: Refusals
