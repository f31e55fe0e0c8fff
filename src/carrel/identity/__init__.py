"""Ports to identity providers outside: what they are asked and what they answer. Knows no table of ours."""
