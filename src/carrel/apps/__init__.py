"""The ways into a running session: apps, terminals, commands and logs, and who may reach an app for how long.

Belongs here: templates, tickets and grants, starting an app, terminals. Not here: carrying an opened app's traffic
(`gateway/`).
"""
