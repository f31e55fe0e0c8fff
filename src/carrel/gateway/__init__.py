"""The data plane: a reverse proxy of apps, and SSH, in a separate process.

Each app has its own origin: `<app>-<session>.<apps domain>`, or a port. Belongs here: authorization, header filtering,
and fast proxying in both directions. Not here: starting apps and issuing tickets (`apps/`).

    serve.py          the server, its routes under /.carrel/, start and stop
    app_routes.py     host name or port -> app
    authorization.py  app and cookie -> route or denial; disconnects clients whose grant lapsed
    headers.py        filtering and rewriting of headers
    upstream.py       connections to containers, and the pool of idle ones
    relay.py          one request and its response
    bulk.py           large bodies, inside the kernel
    tunnel.py         WebSockets, as raw bytes after the upgrade
    pages.py          error pages

SSH to sessions has a port of its own:

    ssh_listener.py     the port and its limits
    ssh_access.py       keys, certificates and sessions -> a permitted way into a container; ends connections
    ssh_connections.py  one connection: authentication and channels
    ssh_processes.py    shells, commands and SFTP, by Engine.exec
    ssh_forwarding.py   channels to ports of a session
"""
