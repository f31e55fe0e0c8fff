"""Identity providers of the installation (OpenID Connect, LDAP): which there are, and who comes from them."""
