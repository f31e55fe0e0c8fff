# JupyterLab opens there, unless a dotfile configures it. If there is one notebook, it is that.
if [ -d "$target" ] && [ -z "$path" ]; then
    set -- "$target"/*.ipynb
    if [ $# = 1 ] && [ -f "$1" ]; then
        file=${1##*/}
        case $file in *[!A-Za-z0-9._-]*) ;; *) page=$page/$file ;; esac
    fi
fi
config=$HOME/.jupyter/jupyter_server_config.json
if [ ! -e "$config" ] && [ "$target" = "$root/$name" ]; then
    mkdir -p "${config%/*}"
    printf '{"LabApp": {"default_url": "/lab/tree/%s"}}\n' "$page" >"$config"
fi
