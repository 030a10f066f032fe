package wire

import (
	"crypto/rand"
	_ "embed"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// Request is the constant exec request. A restricted shell refuses exec but
// runs the plain name; every other shell replaces itself, which saves a
// process and makes the script's shell the leader that sshd created.
//
// The odd argument tells shells apart by how they read backslashes in the two
// kinds of quotes: the Bourne family makes three of them, csh four, fish two,
// and the restricted shell's fallback has none. See Direct.
const Request = `exec sh -s '\\'"\\" || sh -s`

// maxDirect is the longest script sent as an exec request, in bytes: Dropbear
// takes 9,000 (MAX_CMD_LEN in its sysoptions.h).
const maxDirect = 6000

// Direct reports whether the script may itself be the exec request once the
// login shell is known to be of the Bourne family (Marker.Bourne): that saves
// starting a second shell. Only words that every shell reads the same between
// single quotes qualify, so a wrong guess about the shell could fail but never
// change a word.
func (s Script) Direct() bool {
	if s.Kind != KindRun || s.Token != 0 {
		return false
	}
	sum := 0
	for _, a := range s.Args {
		sum += len(a) + 3
		for i := 0; i < len(a); i++ {
			if c := a[i]; c < ' ' || c > '~' || c == '\'' || c == '!' || c == '\\' {
				return false
			}
		}
	}
	return sum < maxDirect
}

// Kinds of script.
const (
	KindRun    = "run"    // args: argv
	KindKill   = "kill"   // args: pid
	KindPut    = "put"    // args: path, octal mode, sha256 in hex
	KindStart  = "start"  // args: id, lock, seconds, quoted argv
	KindPoll   = "poll"   // args: id, offset
	KindCancel = "cancel" // args: id
	KindDraw   = "draw"   // args: run
	KindSignal = "signal" // args: pid, expected command name, signal
)

//go:embed scripts/fence.sh
var fenceText string

//go:embed scripts/kill.sh
var killText string

//go:embed scripts/put.sh
var putText string

//go:embed scripts/journal.sh
var journalText string

//go:embed scripts/start.sh
var startText string

//go:embed scripts/jobrun.sh
var jobrunText string

//go:embed scripts/poll.sh
var pollText string

//go:embed scripts/cancel.sh
var cancelText string

//go:embed scripts/draw.sh
var drawText string

//go:embed scripts/signal.sh
var signalText string

// Script is one piece of work for a host.
type Script struct {
	Kind  string
	Args  []string
	Nonce string // 32 hexadecimal digits, new for every script
	Sudo  bool   // the login user is not root and the work needs it
	Stdin bool   // bytes follow once the marker has been seen
	// Run and Token are the lease; Token 0 means that the host checks none.
	Run   string
	Token uint64
	// StateDir holds the journal; empty means $HOME/.fabricbot.
	StateDir string
}

// NewNonce returns a fresh marker.
func NewNonce() (string, error) {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("making a marker: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}

// environment puts the system's directories first, so that a directory of the login
// user cannot shadow a program, and adds where sbin is missing from the path.
const environment = `cd /
LC_ALL=C TERM=dumb NO_COLOR=1 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:$PATH
export LC_ALL TERM NO_COLOR PATH
`

// Text renders the script. Everything from the marker on is one compound
// command: a shell parses it whole before it runs any of it, so bytes sent
// after the marker reach the program even where the shell reads ahead.
func (s Script) Text() []byte {
	var b strings.Builder
	flag := func(v bool) string {
		if v {
			return "1"
		}
		return "0"
	}
	h1, h2 := s.Nonce[:len(s.Nonce)/2], s.Nonce[len(s.Nonce)/2:]
	fmt.Fprintf(&b, "#fb %s sudo=%s stdin=%s token=%d %s %s\n", s.Kind, flag(s.Sudo), flag(s.Stdin), s.Token, h1, h2)
	b.WriteString(`fb_how=other; [ "$1" != '\\\' ] || fb_how=bourne` + "\n")
	b.WriteString("set -- " + QuoteAll(s.Args) + "\n")
	b.WriteString(environment)
	if s.Kind != KindRun || s.Token != 0 {
		fmt.Fprintf(&b, "fb_sudo=%s fb_stdin=%s fb_token=%d fb_run=%s fb_dir=%s\n", flag(s.Sudo), flag(s.Stdin), s.Token, Quote(s.Run), Quote(s.StateDir))
	}
	if s.Token != 0 || s.Kind == KindPoll || s.Kind == KindCancel || s.Kind == KindDraw {
		b.WriteString(fenceText)
	}
	pre, main := "", ""
	switch s.Kind {
	case KindRun:
		if s.Sudo {
			b.WriteString("set -- sudo -n -- \"$@\"\n")
		}
		// The shell is normally the leader already (OpenSSH makes a session per
		// channel); under Dropbear it shares one with the server's process.
		b.WriteString("kill -0 -$$ 2>/dev/null || { command -v setsid >/dev/null 2>&1 && set -- setsid \"$@\"; }\n")
		main = `exec "$@"`
		if !s.Stdin {
			main += " </dev/null"
		}
		if s.Token != 0 {
			main = "exec 8>&-; " + main
		}
	case KindKill:
		b.WriteString(killText)
		main = `fb_kill "$@"`
	case KindPut:
		b.WriteString(putText)
		pre, main = `fb_put_look "$@"`, `fb_put "$@"`
	case KindStart:
		b.WriteString(journalText)
		b.WriteString("fb_jobrun=" + Quote(jobrunText) + "\n")
		b.WriteString(startText)
		main = `fb_start "$@"`
	case KindPoll:
		b.WriteString(journalText + pollText)
		main = `fb_poll "$@"`
	case KindCancel:
		b.WriteString(killText + journalText + cancelText)
		main = `fb_cancel "$@"`
	case KindDraw:
		b.WriteString(drawText)
		main = `fb_draw "$@"`
	case KindSignal:
		b.WriteString(signalText)
		main = `fb_signal "$@"`
	}
	if s.Token != 0 {
		pre = strings.TrimSuffix("fb_fence && "+pre, " && ")
	}
	fmt.Fprintf(&b, "{ fb_go=go; %s\nprintf '%%s%%s %%s %%s %%s\\n' %s %s $$ $fb_how \"$fb_go\"; printf '%%s%%s\\n' %s %s >&2\n", pre, h1, h2, h1, h2)
	fmt.Fprintf(&b, "[ \"$fb_go\" = go ] || exit 0\n%s\nexit; }\n", main)
	return []byte(b.String())
}

// Marker is the line that begins the answer on both streams.
type Marker struct {
	PID    int
	Bourne bool   // the login shell reads quotes as sh does
	Word   string // "go", or why the work was not begun: fenced, noflock, nostate, same
	Rest   string
}

// ReadMarker reads a marker line (without its nonce and line end).
func ReadMarker(line string) (Marker, error) {
	f := strings.SplitN(strings.TrimSpace(line), " ", 4)
	if len(f) < 3 || f[1] == "" || f[2] == "" {
		return Marker{}, fmt.Errorf("marker line %q: want a process id, the kind of shell and a word", line)
	}
	pid, err := strconv.Atoi(f[0])
	if err != nil || pid <= 1 {
		return Marker{}, fmt.Errorf("marker line %q: process id %q", line, f[0])
	}
	m := Marker{PID: pid, Bourne: f[1] == "bourne", Word: f[2]}
	if len(f) == 4 {
		m.Rest = f[3]
	}
	return m, nil
}
