"""Authentication: logins, keypairs, tokens, identity providers."""
