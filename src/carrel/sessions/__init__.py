"""Compute sessions: what a person asked for, what became of it, and why."""
