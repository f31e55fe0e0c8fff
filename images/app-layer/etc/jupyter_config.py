"""JupyterLab as an app behind the gateway, which alone knows the secret and adds it to each request.

Also for the image's own JupyterLab, of any version: settings that it does not have do nothing.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

c = get_config()  # noqa: F821 - Jupyter puts it in scope

LAYER = "/opt/carrel"
HOME = os.environ.get("HOME", os.getcwd())
SECRET = os.environ.pop("CARREL_APP_SECRET")


def kernels_of_image():
    """A data directory with a kernel for the image's own Python; None if that has no ipykernel."""
    python = shutil.which("python3", path=os.environ.get("PATH", ""))
    test = "import importlib.util, sys; sys.exit(importlib.util.find_spec('ipykernel') is None)"
    if python is None or subprocess.run([python, "-c", test], stderr=subprocess.DEVNULL).returncode:
        return None
    folder = tempfile.mkdtemp(prefix="carrel-kernels-")
    os.makedirs(os.path.join(folder, "kernels", "image"))
    spec = {
        "argv": [python, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "Python 3 (of the image)",
        "language": "python",
        "metadata": {"debugger": True},
    }
    with open(os.path.join(folder, "kernels", "image", "kernel.json"), "w") as file:
        json.dump(spec, file)
    return folder


def shell():
    """The shell of terminals."""
    candidates = (os.environ.get("SHELL", ""), "/bin/bash", "/usr/bin/bash", "/bin/sh", f"{LAYER}/bin/sh")
    return next(one for one in candidates if os.access(one, os.X_OK))


for server in (c.ServerApp, c.NotebookApp):
    server.ip = "0.0.0.0"
    server.port = int(os.environ["CARREL_APP_PORT"])
    server.port_retries = 0
    server.open_browser = False
    # Requests carry the name of the app's own origin, which is not this machine's.
    server.allow_remote_access = True
    server.terminado_settings = {"shell_command": [shell(), "-l"]}
c.ServerApp.root_dir = c.NotebookApp.notebook_dir = HOME
c.IdentityProvider.token = c.ServerApp.token = c.NotebookApp.token = SECRET

# Nothing here calls home, and the installation of JupyterLab is not the user's to change.
c.LabApp.news_url = None
c.LabApp.check_for_updates_class = "jupyterlab.NeverCheckForUpdate"
c.LabApp.extension_manager = "readonly"

if sys.prefix.startswith(LAYER):
    if folder := kernels_of_image():
        others = [path for path in (os.environ.get("JUPYTER_PATH"),) if path]
        os.environ["JUPYTER_PATH"] = os.pathsep.join([folder, *others])
        c.MultiKernelManager.default_kernel_name = "image"
    if not os.path.exists("/etc/ssl/certs/ca-certificates.crt"):
        os.environ.setdefault("SSL_CERT_FILE", f"{LAYER}/etc/ca-certificates.crt")
    os.environ["PATH"] = f"{os.environ.get('PATH', '')}:{LAYER}/bin:{LAYER}/busybox"
