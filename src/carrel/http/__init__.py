"""The HTTP kit: problems, authentication of requests, paging, streams. Knows no concept."""
