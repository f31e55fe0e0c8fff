"""HTTP building blocks: problems, request authentication, paging, streams. No domain concepts."""
