"""Engines: what runs containers, as rows with settings and a state, and connected by `connections.Engines`.

Belongs here: adding, changing, checking and removing engines, and finding the right one. Not here: how an engine of
some kind works (`carrel.engines`), and looking after them (`carrel.controllers.observe`).
"""
