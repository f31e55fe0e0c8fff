"""The image catalogue: names for references, and metadata of each image."""
