# Fields of /proc/<pid>/stat behind the command name, which may hold anything.
fb_stat() {
	{ read -r fb_line <"/proc/$1/stat"; } 2>/dev/null || return 1
	fb_line=${fb_line##*) }
}
# fb_live PID START: the same process is there and is not a zombie.
fb_live() {
	fb_stat "$1" || return 1
	fb_was=$2
	set -- $fb_line
	[ "$1" != Z ] && [ "$1" != X ] && [ "${20}" = "$fb_was" ]
}
# Add to fb_set ("pid:start ...") the root, its descendants and its session.
fb_tree() {
	fb_root=$1 fb_table=
	# All at once: the shell's own read takes one system call per byte.
	fb_all=$(cat /proc/[0-9]*/stat 2>/dev/null)
	IFS='
'
	set -f
	for fb_l in $fb_all; do
		unset IFS
		fb_p=${fb_l%% *}
		set -- ${fb_l##*) }
		case $fb_p in $$ | '' | *[!0-9]*) continue ;; esac
		[ "$1" = Z ] || [ -z "${20}" ] || fb_table="$fb_table $fb_p:$2:$4:${20}"
	done
	unset IFS
	# The next reading needs the pattern of /proc again.
	set +f
	fb_grew=1
	while [ $fb_grew = 1 ]; do
		fb_grew=0
		for fb_e in $fb_table; do
			IFS=:
			set -- $fb_e
			unset IFS
			case " $fb_in " in *" $1 "*) continue ;; esac
			case " $fb_in " in
			*" $2 "*) ;;
			*) [ "$1" = "$fb_root" ] || [ "$3" = "$fb_root" ] || continue ;;
			esac
			fb_in="$fb_in $1" fb_set="$fb_set $1:$4" fb_grew=1
		done
	done
}
# Signal every living process of fb_set but fb_spare.
fb_signal_all() {
	fb_sig=$1 fb_left=
	for fb_e in $fb_set; do
		fb_p=${fb_e%%:*}
		[ "$fb_p" != "$fb_spare" ] && fb_live "$fb_p" "${fb_e#*:}" || continue
		fb_left="$fb_left $fb_p"
		[ "$fb_sig" = 0 ] || kill -"$fb_sig" "$fb_p" 2>/dev/null ||
			{ [ "$fb_sudo" = 1 ] && sudo -n kill -"$fb_sig" "$fb_p"; } 2>/dev/null
	done
	[ -z "$fb_left" ]
}
# Kill a whole tree: TERM, two seconds, KILL, two seconds, and KILL again for
# who came late; say what is left. A look may miss who is forked while it
# reads, so it is over when two looks in a row find nobody alive.
fb_kill() {
	fb_in= fb_set= fb_spare=${2:-none}
	for fb_s in TERM KILL KILL; do
		fb_tree "$1"
		if fb_signal_all $fb_s; then
			fb_tree "$1"
			fb_signal_all $fb_s && break
		fi
		fb_n=0
		while [ $fb_n -lt 20 ] && ! fb_signal_all 0; do
			sleep 0.1 2>/dev/null || sleep 1
			fb_n=$((fb_n + 1))
		done
	done
	if fb_signal_all 0; then echo gone; else echo "left$fb_left"; fi
}
