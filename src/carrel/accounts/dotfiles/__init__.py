"""Users' dotfiles: small files, such as .bashrc, that each of their sessions has in its home."""
