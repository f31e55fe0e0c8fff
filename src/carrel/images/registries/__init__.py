"""Registries of container images: their settings, and the client that reads them."""
