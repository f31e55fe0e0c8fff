"""Domains, projects, users, and how they prove who they are (passwords, sign-ins, keypairs)."""
