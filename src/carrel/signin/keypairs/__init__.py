"""Credentials of scripts: keypairs and personal tokens; and SSH keys of users."""
