"""Storage hosts: named storage back ends for folders, their access lists and their health."""
