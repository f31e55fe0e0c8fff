"""Apps of sessions: what can be opened, and who may reach it for how long.

Belongs here: templates, tickets, grants, the secret that a session's apps share with the gateway. Not here:
starting an app (`access/opening.py`) and forwarding to it (`gateway/`).
"""
