"""Audit trail: actions with actor, address and credential, written in the transaction of the change itself."""
