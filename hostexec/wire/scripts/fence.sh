fb_state() {
	[ -n "$fb_dir" ] || fb_dir=$HOME/.fabricbot
	fb_jobs=$fb_dir/jobs
	( umask 077; mkdir -p "$fb_jobs" && : >>"$fb_jobs/.lock" ) 2>/dev/null && exec 8>>"$fb_jobs/.lock"
}
# Turn away a lease older than the newest this host has seen. Sets fb_go.
fb_fence() {
	command -v flock >/dev/null 2>&1 || { fb_go="noflock"; return 1; }
	fb_state || { fb_go="nostate $fb_dir"; return 1; }
	flock -w 20 8 8>&8 || { fb_go="locked $fb_jobs"; return 1; }
	fb_seen=0 fb_by=
	[ ! -s "$fb_jobs/.token" ] || read -r fb_seen fb_by <"$fb_jobs/.token"
	case $fb_seen in '' | *[!0-9]*) fb_go="nostate $fb_jobs/.token"; return 1 ;; esac
	if [ "$fb_token" -lt "$fb_seen" ]; then
		fb_go="fenced $fb_seen $fb_by"
		return 1
	fi
	if [ "$fb_token" -gt "$fb_seen" ]; then
		echo "$fb_token $fb_run" >"$fb_jobs/.token.new" && mv -f "$fb_jobs/.token.new" "$fb_jobs/.token" ||
			{ fb_go="nostate $fb_jobs/.token"; return 1; }
	fi
}
