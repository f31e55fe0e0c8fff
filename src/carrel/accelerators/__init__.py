"""Accelerators: discovery on a machine, and attachment to containers. Not here: running containers."""
