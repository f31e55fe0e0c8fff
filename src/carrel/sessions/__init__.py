"""Compute sessions: their spec, state, containers and history."""
