"""Access to running sessions: apps, terminals, commands and logs, and grants for apps.

Belongs here: templates, tickets and grants, starting apps, terminals. Not here: proxying app traffic (`gateway/`).
"""
