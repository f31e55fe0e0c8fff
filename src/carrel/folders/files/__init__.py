"""What is in folders: listing, changing, uploading, downloading. Every path is walked by directory handles."""
