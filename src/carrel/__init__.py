"""Carrel: self-hosted, multi-tenant compute sessions."""

__version__ = "0.5.0"
