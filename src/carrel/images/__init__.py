"""The catalogue of images: names for references, and what Carrel knows about each."""
