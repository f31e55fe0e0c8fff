"""Signing in: passwords, second factors, passkeys, browsers that are signed in, one-time links."""
