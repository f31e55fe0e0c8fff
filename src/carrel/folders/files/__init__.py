"""Files in folders: list, change, upload, download. Every path is resolved by directory handles."""
