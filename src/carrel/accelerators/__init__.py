"""Accelerators: what a machine has of them, and how a container gets some. Nothing here runs containers."""
