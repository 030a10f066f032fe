# One report about job $1, its output from byte $2 on: "key value" lines, an
# empty line, then the announced bytes of standard output and standard error.
fb_report() {
	fb_d=$fb_jobs/$1 fb_pid=0 fb_start= fb_boot= fb_began=0 fb_rc= fb_end=0 fb_tok=0 fb_text=$3 fb_now=
	if [ ! -d "$fb_d/begun" ] || [ -f "$fb_d/busy" ]; then
		printf 'state absent\n\n'
		return
	fi
	[ ! -f "$fb_d/token" ] || read -r fb_tok fb_by <"$fb_d/token"
	[ ! -f "$fb_d/pid" ] || read -r fb_pid fb_start fb_boot fb_began <"$fb_d/pid"
	fb_state=unknown
	if [ ! -f "$fb_d/exit" ] && fb_alive; then
		fb_state=running
	elif [ -f "$fb_d/exit" ] && read -r fb_rc fb_end <"$fb_d/exit" && [ -n "$fb_end" ]; then
		fb_state=done
	else
		read -r fb_now </proc/sys/kernel/random/boot_id
		if [ -n "$fb_boot" ] && [ "$fb_now" != "$fb_boot" ]; then
			fb_text="the host has booted since the program began"
		else
			fb_text="process $fb_pid is gone and left no exit status"
		fi
	fi
	fb_o=0 fb_e=0
	[ ! -f "$fb_d/out" ] || fb_o=$(($(wc -c <"$fb_d/out")))
	[ ! -f "$fb_d/err" ] || fb_e=$(($(wc -c <"$fb_d/err")))
	fb_from=$2
	[ "$fb_from" -le "$fb_o" ] || fb_from=$fb_o
	[ $((fb_o - fb_from)) -le 65536 ] || fb_from=$((fb_o - 65536))
	fb_efrom=0
	[ "$fb_e" -le 8192 ] || fb_efrom=$((fb_e - 8192))
	printf 'state %s\npid %s\nexit %s\nstarted %s\nended %s\ntoken %s\nout %s\nfrom %s\nerr %s\nerrfrom %s\ndetail %s\n\n' \
		"$fb_state" "$fb_pid" "${fb_rc:-0}" "$fb_began" "$fb_end" "$fb_tok" "$fb_o" "$fb_from" "$fb_e" "$fb_efrom" "$fb_text"
	[ "$fb_o" -le "$fb_from" ] || tail -c +$((fb_from + 1)) "$fb_d/out" | head -c $((fb_o - fb_from))
	[ "$fb_e" -le "$fb_efrom" ] || tail -c +$((fb_efrom + 1)) "$fb_d/err" | head -c $((fb_e - fb_efrom))
}
# The recorded process is the one with that number now, on this boot.
fb_alive() {
	read -r fb_now </proc/sys/kernel/random/boot_id
	[ "$fb_now" = "$fb_boot" ] || return 1
	{ read -r fb_line <"/proc/$fb_pid/stat"; } 2>/dev/null || return 1
	set -- ${fb_line##*) }
	[ "$1" != Z ] && [ "${20}" = "$fb_start" ]
}
