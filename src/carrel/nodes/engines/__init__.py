"""Engines run containers: rows with settings and state, and the connections to them (`connections.Engines`).

Belongs here: adding, changing, checking and removing engines, and finding the right one. Not here: the implementation
of each kind (`carrel.engines`), and monitoring (`carrel.controllers.observe`).
"""
