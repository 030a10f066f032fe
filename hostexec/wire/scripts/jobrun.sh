#!/bin/sh
# The job itself, detached. $1 journal directory, $2 lock file or nothing, $3 seconds or 0.
# The first to make this directory is the only one that ever runs the program.
mkdir "$1/begun" 2>/dev/null || exit 0
umask 077
if [ -n "$2" ]; then
	exec 9>>"$2"
	if ! flock -n 9 9>&9; then
		cat "$2" >"$1/busy.new"
		mv -f "$1/busy.new" "$1/busy"
		exit 0
	fi
	echo "${1##*/}" >"$2"
fi
read -r line </proc/$$/stat
read -r boot </proc/sys/kernel/random/boot_id
journal=$1 seconds=$3 self=$$ now=$(date +%s)
set -- ${line##*) }
echo "$self ${20} $boot $now" >"$journal/pid.new"
mv -f "$journal/pid.new" "$journal/pid"
# Outlive a cancel, to write down how the program ended.
trap : TERM INT HUP
cd /
umask 022
fb_sudo=
[ ! -f "$journal/sudo" ] || fb_sudo='sudo -n --'
eval "set -- $(cat "$journal/cmd")"
[ "$seconds" = 0 ] || set -- timeout -k 30 "$seconds" "$@"
input=/dev/null
[ ! -f "$journal/stdin" ] || input=$journal/stdin
"$@" <"$input" >"$journal/out" 2>"$journal/err"
code=$?
echo "$code $(date +%s)" >"$journal/exit.new"
mv -f "$journal/exit.new" "$journal/exit"
