"""What scripts prove themselves with: keypairs and personal tokens; and people's SSH keys."""
