#!/bin/sh
# The hook of every event. hooks.json sources it into the shell that the client starts, with
# the event's name as $1 and the event's payload on standard input; a second shell would
# cost a fifth of the whole hook. `sh hook.sh EVENT` does the same.
#
# Keeps the payload in the spool of the project's store and does nothing else that takes
# time: no parsing, no git, no Python but for the events that are answered. Whatever goes
# wrong is logged in the store; the exit code is always 0, and nothing but an answer meant
# for the client is printed. The rules for finding the store are those of find_store in
# ctxgit/gitdir.py; the form of an event's name is described in ctxgit/capture/spool.py.

trap 'exit 0' EXIT # a shell's own errors too: exit code 2 would block the agent
umask 077
exec 2>/dev/null
export LC_ALL=C # letters are A to Z, and no command looks for a locale
event=$1
plugin=${CLAUDE_PLUGIN_ROOT:-${0%/hooks/*}}

find_store() {
	if [ -n "${CTX_STORE:-}" ]; then
		store=$CTX_STORE
		[ -d "$store/.git/ctx" ]
		return
	fi
	cd -P -- "${CLAUDE_PROJECT_DIR:-.}" || return 1
	dir=$PWD
	while :; do
		case $dir in
		*/.context-store) ;;
		*)
			store=$dir/.context-store
			is_store && return 0
			if [ -f "$dir/.git" ]; then
				find_store_of_linked_work_tree
				return
			fi
			{ [ -e "$dir/.git/HEAD" ] || [ -L "$dir/.git/HEAD" ]; } && return 1
			;;
		esac
		[ -n "$dir" ] || return 1
		dir=${dir%/*}
	done
}

# Whether $store is one, and of the user's own: anyone may put a folder of this name above a
# place where others work.
is_store() {
	[ -d "$store/.git/ctx" ] && [ -O "$store/.git/ctx" ]
}

find_store_of_linked_work_tree() {
	IFS= read -r line <"$dir/.git"
	git_dir=${line#gitdir: }
	case $git_dir in /*) ;; *) git_dir=$dir/$git_dir ;; esac
	[ -f "$git_dir/commondir" ] || return 1
	IFS= read -r common <"$git_dir/commondir"
	case $common in /*) ;; *) common=$git_dir/$common ;; esac
	cd -P -- "$common" || return 1
	store=${PWD%/*}/.context-store
	is_store && return 0
	[ -f info/exclude ] || return 1
	while IFS= read -r line; do
		store=${line#"# ctxgit store: "}
		[ "$store" != "$line" ] && is_store && return 0
	done <info/exclude
	return 1
}

log() {
	[ -n "$store" ] || return
	log=$store/.git/ctx/log
	[ -n "$(find "$log" -size +1024)" ] && mv -f "$log" "$log.1"
	printf '%s hook %s: %s\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$event" "$1" >>"$log"
}

# Keep standard input as the file $spool/$name, whole or not at all, over no other file: a
# link never replaces one. The first name of the file is left for the sync to remove.
keep() {
	spool=$store/.git/ctx/spool
	session=${CLAUDE_CODE_SESSION_ID:-none}
	case $session in *[!A-Za-z0-9_-]* | [!A-Za-z0-9]*) session=none ;; esac
	[ ${#session} -le 128 ] || session=none
	client=${CLAUDE_PID:-none}
	case $client in *[!0-9]*) client=none ;; esac
	# The kernel's unique id costs no process; to start date takes a quarter of the hook.
	IFS= read -r stamp </proc/sys/kernel/random/uuid || stamp=$(date +%s%N)
	case $stamp in [0-9a-f]*) ;; *) stamp=0 ;; esac
	name=${stamp%%[!0-9a-f-]*}.$session.$client.$$
	[ -d "$spool" ] || mkdir -p "$spool"
	while [ -e "$spool/$name" ] || [ -e "$spool/.$name" ]; do name=$name.1; done
	if cat >"$spool/.$name"; then
		ln "$spool/.$name" "$spool/$name" && return
		# A file system without hard links, or the name was taken just now.
		hidden=.$name
		while [ -e "$spool/$name" ]; do name=$name.1; done
		mv -n "$spool/$hidden" "$spool/$name"
		[ -e "$spool/$hidden" ] || return
		name=${hidden#.}
	fi
	rm -f "$spool/.$name"
	log "the event could not be kept in $spool"
	return 1
}

# Set $python, or say in the log that there is none.
need_python() {
	[ -r "$plugin/hooks/python.sh" ] || return 1 # the plugin is being replaced
	. "$plugin/hooks/python.sh"
	find_python && return
	log "no Python 3.11 or newer with ctxgit was found"
	return 1
}

# Run a verb of ctxgit/cli/hook.py. A Python that was looked for has to find its packages.
run_ctxgit() {
	"$python" -P ${record:+-I -S} "$plugin/hooks/boot.py" "$record" "$@"
}

sync_detached() {
	(
		trap '' HUP
		run_ctxgit sync "$store" "$session" </dev/null >/dev/null &
	)
}

if ! find_store; then
	store=
	if [ "$event" = SessionStart ] && need_python; then
		run_ctxgit no-store "" "${CLAUDE_PROJECT_DIR:-$PWD}"
	fi
	exit 0
fi

keep || exit 0
case $event in
Stop | SessionEnd | PostCompact)
	need_python && sync_detached
	;;
PreCompact)
	need_python && run_ctxgit pre-compact "$store" "$session"
	;;
SessionStart)
	# The sync comes last: it takes the event away, and a processor that the answer needs.
	if need_python; then
		run_ctxgit session-start "$store" "$spool/$name"
		sync_detached
	fi
	;;
esac
exit 0
