# pip may fail: the session is there to repair it.
pip_install() {
    have python3 || { say "The image has no python3: requirements are not installed."; return; }
    say "Installing: pip install $*"
    python3 -m pip install --no-input --disable-pip-version-check "$@" ||
        say "Not all requirements could be installed; see above."
}

requirements() {
    cd "$1"
    if [ -f environment.yml ]; then
        for tool in mamba micromamba conda ''; do have "$tool" && break; done
        if [ -n "$tool" ]; then "$tool" env update -q -n base -f environment.yml || say "conda could not install all."
        else say "environment.yml needs conda, which the image does not have."
        fi
    fi
    if [ -f requirements.txt ]; then pip_install -r requirements.txt
    elif [ -f pyproject.toml ] && grep -q '^\[project\]' pyproject.toml; then pip_install -e .
    fi
    if [ -f apt.txt ]; then
        if have apt-get && sudo -n true 2>/dev/null; then
            { sudo -n apt-get -q update && sed 's/#.*//' apt.txt | xargs sudo -n apt-get -qy install --; } ||
                say "Not all packages of apt.txt could be installed."
        else say "apt.txt needs root inside and apt: its packages are not installed."
        fi
    fi
    for file in Dockerfile .devcontainer/devcontainer.json .devcontainer.json runtime.txt postBuild; do
        if [ -f "$file" ]; then say "It describes its environment in $file, which is not applied to this image."; fi
    done
}

inner=$target
case $path in '') ;; *.ipynb) case $path in */*) inner=$target/${path%/*} ;; esac ;; *) inner=$target/$path ;; esac
[ -d "$inner" ] || inner=$target
if [ ! -e "$inner/requirements.txt" ] && [ ! -e "$inner/environment.yml" ]; then inner=$target; fi
(requirements "$inner")
