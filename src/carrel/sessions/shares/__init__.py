"""Shares of sessions with users and projects, and by link. What a share permits is in `sessions.visibility`."""
