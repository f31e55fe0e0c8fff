"""Presets: named sets of slots that the launcher offers."""
