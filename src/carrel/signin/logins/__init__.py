"""Sign-in: passwords, second factors, passkeys, signed-in browsers, one-time links."""
