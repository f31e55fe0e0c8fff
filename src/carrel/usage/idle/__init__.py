"""Idle sessions: the rules, when a session will end, and keeping it alive."""
