fb_cancel() {
	fb_d=$fb_jobs/$1
	exec 8>&-
	fb_pid=
	[ ! -f "$fb_d/pid" ] || read -r fb_pid fb_start fb_boot fb_began <"$fb_d/pid"
	fb_note=
	if [ -n "$fb_pid" ] && [ ! -f "$fb_d/exit" ] && fb_alive; then
		fb_note="cancelled: $(fb_kill "$fb_pid" "$fb_pid")"
		fb_n=0
		while [ $fb_n -lt 50 ] && [ ! -f "$fb_d/exit" ]; do
			sleep 0.1 2>/dev/null || sleep 1
			fb_n=$((fb_n + 1))
		done
	fi
	fb_report "$1" 0 "$fb_note"
}
