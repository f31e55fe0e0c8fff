"""Derive the state of a session from the states of its containers. Pure, and the only implementation of the rule.

    containers                                    session
    all PENDING                                   PENDING
    all SCHEDULED                                 SCHEDULED
    some not yet STARTING                         PREPARING
    some not yet RUNNING                          STARTING
    all RUNNING                                   RUNNING
    some EXITED or GONE                           TERMINATING, where the rule of its kind ends it
    ending requested, some not GONE               TERMINATING
    ending requested, all GONE                    the requested final state

Containers are placed all or none, and the session runs only when all of them run. A restarted container takes its
session back to STARTING.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from carrel.tables.session_states import ContainerRole, ContainerState, SessionState

_S, _C = SessionState, ContainerState


@dataclass(frozen=True, slots=True)
class Member:
    """The inputs from one container. exit_code: of its main process, if known."""

    role: ContainerRole
    state: ContainerState
    exit_code: int | None = None


@dataclass(frozen=True, slots=True)
class Derived:
    """outcome: where a session that is TERMINATING ends; None before."""

    state: SessionState
    outcome: SessionState | None = None


EndRule = Callable[[Collection[Member]], SessionState | None]
"""The final state after some containers have ended, or None if the session continues without them."""


def _all_are_needed(members: Collection[Member]) -> SessionState | None:
    """The rule for interactive sessions: the first lost container, main or sub, ends the session.

    Its containers run until a user terminates it, so an exit is a fault, and the remaining containers would hold
    slots for work that cannot continue.
    """
    return _S.ERROR


END_RULES: Mapping[str, EndRule] = {"interactive": _all_are_needed}
"""By session kind. A kind that runs to completion defines here what the exit code of its main container means."""


def derive(kind: str, members: Collection[Member], outcome: SessionState | None) -> Derived:
    """The state of a session with these containers, and its final state if the containers end it.

    members: at least one. outcome: the final state requested by a user or a limit; None: not requested.
    """
    states = {member.state for member in members}
    ended = states & {_C.EXITED, _C.GONE}
    if outcome is None and ended:
        outcome = END_RULES[kind](members)
        states = states if outcome else states - ended
    if outcome is not None:
        return Derived(outcome if states == {_C.GONE} else _S.TERMINATING, outcome)
    if _C.PENDING in states:
        return Derived(_S.PENDING)
    if states == {_C.SCHEDULED}:
        return Derived(_S.SCHEDULED)
    if states & {_C.SCHEDULED, _C.PREPARING}:
        return Derived(_S.PREPARING)
    return Derived(_S.STARTING if _C.STARTING in states else _S.RUNNING)
