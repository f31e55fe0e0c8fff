"""Virtual folders: ownership, permissions, tasks and quotas."""
