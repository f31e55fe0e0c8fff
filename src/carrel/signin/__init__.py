"""How people and their scripts prove who they are: logins, keypairs, identity providers."""
