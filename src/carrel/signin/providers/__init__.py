"""Identity providers of the installation (OpenID Connect, LDAP), and sign-in by them."""
