"""Services for recording refused requests."""

from dataclasses import dataclass

from carrel.audit.refusals import Refusals
from carrel.http.services import Services


@dataclass(frozen=True, kw_only=True)
class AuditServices(Services):
    """`refusals`: records refusals with a rate limit."""

    refusals: Refusals
