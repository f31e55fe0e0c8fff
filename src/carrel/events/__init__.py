"""Events in commit order, for the web page and scripts to follow.

Belongs here: the event log and its live stream. Not here: the audit trail (`audit`).
"""
