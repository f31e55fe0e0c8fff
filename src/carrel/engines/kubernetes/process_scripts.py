"""Shell scripts that run commands in pods, with nothing but the shell's builtins where that is possible.

Kubernetes runs a command with the environment of the main process, so a shell sets the variables and reports commands
that cannot be run. The words of a command are part of the request's address, which audit logs and proxies record, so
the values of variables are not among them: the shell reads them from its input; one with a terminal, which would show
its input, from a private file that a command before it has written.
"""

import shlex
from collections.abc import Mapping, Sequence

from carrel.engines.port import WORK_HOME
from carrel.engines.refused import forbidden, missing

_VARIABLE = "CARREL_PROCESS"
"""Environment variable that identifies the processes of one exec in a container."""

_READ = """
carrel_code= carrel_line=
while IFS= read -r carrel_line && [ "$carrel_line" != %(mark)s ]; do
  carrel_code="$carrel_code$carrel_line
"
done
[ "$carrel_line" = %(mark)s ] || exit 1
"""
# In memory, or on the disk if that is full.
_FILES = f"/dev/shm/.carrel-%(mark)s {WORK_HOME}/.carrel-%(mark)s"
_KEEP = f"""
umask 077
for file in {_FILES}; do
  if printf %%s "$carrel_code" >"$file"; then exit 0; fi
  : >"$file"
done 2>/dev/null
exit 1
"""
_LOAD = f"""
for carrel_line in {_FILES}; do
  if [ -s "$carrel_line" ]; then . "$carrel_line"; fi
done
rm -f {_FILES}
unset carrel_line
"""
_RUN = """
carrel_try() {
  case $1 in
    */*) if [ ! -e "$1" ]; then return 127; fi; if [ -f "$1" ] && [ -x "$1" ]; then return 0; fi; return 126;;
  esac
  carrel_code=127 IFS=:
  for carrel_line in $PATH; do
    if [ -f "$carrel_line/$1" ]; then
      if [ -x "$carrel_line/$1" ]; then carrel_code=0; break; fi
      carrel_code=126
    fi
  done
  unset IFS
  return $carrel_code
}
carrel_try "$1"
case $? in 127) echo %(missing)s >&2; exit 127;; 126) echo %(forbidden)s >&2; exit 126;; esac
unset -f carrel_try; unset carrel_code carrel_line
exec "$@"
"""
# Finds processes by the mark in their environment, which children inherit.
_HANG_UP = f"""
for folder in /proc/[0-9]*; do
  while read -r line || [ -n "$line" ]; do
    case "$line" in *{_VARIABLE}=%(mark)s*) kill -HUP "${{folder#/proc/}}"; break;; esac
  done <"$folder/environ"
done 2>/dev/null
"""


def exports(env: Mapping[str, str], mark: str) -> bytes:
    """Variables for the input of `reading` and `keeping`."""
    lines = [f"export {name}={shlex.quote(value)}\n" for name, value in env.items()]
    return "".join((*lines, mark, "\n")).encode()


def running(command: Sequence[str], mark: str) -> Sequence[str]:
    """Run the command."""
    return _words(_RUN, command, mark)


def reading(command: Sequence[str], mark: str) -> Sequence[str]:
    """Run the command with the variables that its input begins with."""
    return _words(_READ + 'eval "$carrel_code"\n' + _RUN, command, mark)


def keeping(mark: str) -> Sequence[str]:
    """Write the variables of the input to a file."""
    return "/bin/sh", "-c", (_READ + _KEEP) % {"mark": mark}


def loading(command: Sequence[str], mark: str) -> Sequence[str]:
    """Run the command with the variables of the file, which is deleted before."""
    return _words(_LOAD + _RUN, command, mark)


def dropping(mark: str) -> Sequence[str]:
    """Delete the file of a command that was not run. Twice: no-op."""
    return "/bin/sh", "-c", f"rm -f {_FILES}" % {"mark": mark}


def hanging_up(mark: str) -> Sequence[str]:
    """Send SIGHUP to the processes of a command."""
    return "/bin/sh", "-c", _HANG_UP % {"mark": mark}


def _words(script: str, command: Sequence[str], mark: str) -> Sequence[str]:
    values = {
        "mark": mark,
        "missing": shlex.quote(missing(command[0]).sentence),
        "forbidden": shlex.quote(forbidden(command[0]).sentence),
    }
    return "/bin/sh", "-c", f"export {_VARIABLE}={mark}" + script % values, "sh", *command
