"""Pushes of environments to registries: requests, and what the leader writes meanwhile."""
