"""Domains, projects and users with their credentials (passwords, sign-ins, keypairs)."""
