"""JupyterLab as an app behind the gateway, which alone knows the secret and adds it to each request."""

import os

c = get_config()  # noqa: F821 - Jupyter puts it in scope

c.ServerApp.ip = "0.0.0.0"
c.ServerApp.port = 8888
c.ServerApp.port_retries = 0
c.ServerApp.open_browser = False
c.ServerApp.root_dir = "/home/work"
c.IdentityProvider.token = os.environ["CARREL_APP_SECRET"]
# Requests carry the name of the app's own origin, which is not this machine's.
c.ServerApp.allow_remote_access = True
c.ServerApp.terminado_settings = {"shell_command": ["/bin/bash", "-l"]}

# Nothing here calls home, and the installation of JupyterLab is not the user's to change.
c.LabApp.news_url = None
c.LabApp.check_for_updates_class = "jupyterlab.NeverCheckForUpdate"
c.LabApp.extension_manager = "readonly"
