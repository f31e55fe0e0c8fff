"""All ways into a running session: terminals, commands, logs, and opening its apps.

Belongs here: what needs the session, the engine and the person at once. Not here: carrying an opened app's
traffic (`gateway/`).
"""
