"""Storage hosts: named storages that folders are kept on, who may use them, and how they are."""
