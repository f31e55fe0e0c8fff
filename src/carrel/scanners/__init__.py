"""Programs that find the packages and known vulnerabilities of images: how they run, and what their output says.

It knows nothing of the catalogue or of rules.
"""
