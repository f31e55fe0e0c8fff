"""Sending mail by SMTP."""
