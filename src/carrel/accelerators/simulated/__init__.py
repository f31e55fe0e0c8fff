"""Simulated machines: trees of files that the drivers take for real ones. Not here: drivers."""
