"""Stands for nvidia-cuda-mps-control on a simulated machine: version 3 of its commands, with files as state.

As in NVIDIA's documents, "MPS v3 Interface": a server has a directory, and in it one for each namespace.
"""

CONTROL_PROGRAM = r"""#!/bin/sh
pipes=$CUDA_MPS_PIPE_DIRECTORY
[ "$1 $2" = "-p 3" ] || exit 1
[ -e "$pipes/control" ] || { echo "Cannot find MPS control daemon process"; exit 1; }
module=$3 verb=$4
shift 4
name= server= devices= memory= threads=
for one in "$@"; do
  case $one in
  --server=*) server=${one#*=} ;;
  --allowed-devices=*) devices=${one#*=} ;;
  --pinned-memory-limit=*) memory=${one#*=} ;;
  --active-thread-percentage=*) threads=${one#*=} ;;
  --*) ;;
  *) name=$one ;;
  esac
done
add() { mkdir -p "$1" && : > "$1/control" && echo unlimited > "$1/.memory" && echo 100 > "$1/.threads"; }
case "$module $verb" in
"server list")
  for each in "$pipes"/*/; do
    [ -e "$each.devices" ] && echo "$(basename "$each"),0,4711,Ready,${each%/},$(cat "$each.devices"),-"
  done
  true ;;
"server create")
  mkdir "$pipes/$name" && : > "$pipes/$name/control" && add "$pipes/$name/default" &&
    echo "$devices" > "$pipes/$name/.devices" ;;
"server delete") rm -r "$pipes/$name" ;;
"namespace list")
  for each in "$pipes/$server"/*/; do
    echo "$(basename "$each"),$server,Ready,$(cat "$each.memory"),$(cat "$each.threads").00,0,${each%/}"
  done ;;
"namespace create") [ ! -e "$pipes/$server/$name" ] && add "$pipes/$server/$name" ;;
"namespace set")
  [ -d "$pipes/$server/$name" ] || exit 1
  [ -z "$memory" ] || echo "$memory" > "$pipes/$server/$name/.memory"
  [ -z "$threads" ] || echo "$threads" > "$pipes/$server/$name/.threads" ;;
"namespace delete") rm -r "$pipes/$server/$name" ;;
*) exit 1 ;;
esac
"""
