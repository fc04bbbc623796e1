# Finding the Python that runs ctxgit; sourced by hook.sh and bin/ctx.
#
# `ctx init` records it in the user's data folder, and a hook beside the plugin's own data:
# never in a store, which may come with a project from elsewhere and must not name a program
# to run. Line 1 of a record is the interpreter, each further line a folder to import from.

# Set $python, and $record to the file that named it. When what was recorded is gone, look
# for another; $record is then empty, and a sync records anew.
find_python() {
	data=${XDG_DATA_HOME:-${HOME:-}/.local/share}/ctxgit
	for record in "${CLAUDE_PLUGIN_DATA:-$data}/interpreter" "$data/interpreter"; do
		[ -f "$record" ] && IFS= read -r python <"$record" && [ -x "$python" ] && return 0
	done
	record=
	for command in ctxgit ctx; do
		command=$(command -v "$command") && IFS= read -r line <"$command" || continue
		case $line in '#!'*python*) python=${line#??} && has_ctxgit && return 0 ;; esac
	done
	for command in python3 python3.14 python3.13 python3.12 python3.11; do
		python=$(command -v "$command") && has_ctxgit && return 0
	done
	return 1
}

# Whether $python can run ctxgit: it may be another tool's. -P, which is new in Python 3.11,
# keeps it from importing what lies in the project.
has_ctxgit() {
	[ -x "$python" ] && "$python" -P -c 'import ctxgit, tomli_w' >/dev/null
}
