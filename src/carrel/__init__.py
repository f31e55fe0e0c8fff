"""Carrel: self-hosted, multi-tenant compute sessions."""

__version__ = "0.1.0"
