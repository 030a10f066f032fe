package hostexec

import (
	"bytes"
	"fmt"
	"strings"
	"time"
)

const (
	// DefaultTimeout ends a command that has no Timeout of its own. Sweeps of
	// a large fabric are the slowest ordinary command; they set their own.
	DefaultTimeout = 2 * time.Minute
	// DefaultMaxOutput is kept of each stream when MaxOutput is zero, in bytes.
	DefaultMaxOutput = 1 << 20
	// maxArgvBytes bounds all arguments together. Linux allows 128 KiB in one
	// argument (MAX_ARG_STRLEN, execve(2)) and more in sum; nothing here needs it.
	maxArgvBytes = 96 << 10
)

// Command is one program to run on one host.
type Command struct {
	// Argv is the exact argument vector. No shell interprets it: every byte
	// but NUL arrives as it is here. Argv[0] is a name or an absolute path.
	Argv []string
	// Sudo runs the program through "sudo -n" when the login user is not root.
	Sudo bool
	// Stdin is fed to the program; empty means /dev/null.
	Stdin []byte
	// Timeout ends the program, counted from its start; zero is DefaultTimeout.
	Timeout time.Duration
	// Idle ends a program that writes nothing on either stream for so long;
	// zero means that only Timeout ends it.
	Idle time.Duration
	// MaxOutput is the number of bytes of each stream kept in the Result; what
	// is beyond goes to a spill file. Zero is DefaultMaxOutput.
	MaxOutput int
}

// WithDefaults returns the command with the documented defaults filled in.
func (c Command) WithDefaults() Command {
	if c.Timeout <= 0 {
		c.Timeout = DefaultTimeout
	}
	if c.MaxOutput <= 0 {
		c.MaxOutput = DefaultMaxOutput
	}
	return c
}

// CheckArgv reports why argv cannot be sent to a host at all, whatever the
// allow list says: empty, a NUL byte, too long, or a name that a shell's exec
// would take for an option or an assignment.
func CheckArgv(argv []string) error {
	if len(argv) == 0 || argv[0] == "" {
		return fmt.Errorf("empty command")
	}
	if !isProgram(argv[0]) {
		return fmt.Errorf("program name %q: want letters, digits and ./_+- and not a leading dash", argv[0])
	}
	sum := 0
	for i, a := range argv {
		if strings.IndexByte(a, 0) >= 0 {
			return fmt.Errorf("argument %d of %s holds a NUL byte", i, argv[0])
		}
		sum += len(a) + 1
	}
	if sum > maxArgvBytes {
		return fmt.Errorf("arguments of %s take %d bytes, at most %d are sent", argv[0], sum, maxArgvBytes)
	}
	return nil
}

func isProgram(name string) bool {
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case c == '/' || c == '_' || c == '.':
		case (c == '-' || c == '+') && i > 0:
		default:
			return false
		}
	}
	return name != ""
}

// Display renders argv for people and logs: words with anything unusual in
// them are quoted, control characters are escaped. It is never executed.
func Display(argv []string) string {
	var b bytes.Buffer
	for i, a := range argv {
		if i > 0 {
			b.WriteByte(' ')
		}
		if a != "" && !strings.ContainsFunc(a, unusual) {
			b.WriteString(a)
		} else {
			fmt.Fprintf(&b, "%q", a)
		}
	}
	return b.String()
}

func unusual(r rune) bool {
	return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"'\$`+"`", r)
}
