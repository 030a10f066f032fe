package parse

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

// longestLine bounds the memory one line may take, in bytes. The longest line
// known of any tool here is a 2 KiB ibqueryerrors row; what is longer than
// this is no tool's line, so it is cut and noted.
const longestLine = 1 << 20

// lines reads a tool's output line by line without ANSI escape sequences,
// carriage returns and trailing blanks.
type lines struct {
	r    *bufio.Reader
	long []byte // holds a line longer than the reader's buffer
	tidy []byte // holds a line that had to be rewritten
	n    int    // lines read so far
	cut  bool   // a line was longer than longestLine
	open bool   // the last line had no newline
	err  error  // the reader's, if not io.EOF
}

func newLines(r io.Reader) *lines {
	return &lines{r: bufio.NewReaderSize(r, 64<<10)}
}

// next returns the next line, valid until the following call, and whether
// there was one.
func (s *lines) next() ([]byte, bool) {
	if s.err != nil {
		return nil, false
	}
	line, err := s.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		s.long = s.long[:0]
		for errors.Is(err, bufio.ErrBufferFull) {
			s.keep(line)
			line, err = s.r.ReadSlice('\n')
		}
		s.keep(line)
		line = s.long
	}
	if err != nil {
		s.open = len(line) > 0
		if !errors.Is(err, io.EOF) {
			s.err = err
		}
		if len(line) == 0 {
			return nil, false
		}
	}
	s.n++
	return s.clean(line), true
}

// text is next for parsers that keep parts of the line.
func (s *lines) text() (string, bool) {
	b, ok := s.next()
	return string(b), ok
}

func (s *lines) keep(part []byte) {
	if room := longestLine - len(s.long); len(part) > room {
		part, s.cut = part[:room], true
	}
	s.long = append(s.long, part...)
}

func (s *lines) clean(line []byte) []byte {
	if bytes.IndexByte(line, 0x1b) >= 0 {
		line = s.stripANSI(line)
	}
	line = bytes.TrimRight(line, " \t\r\n\x00")
	if i := bytes.LastIndexByte(line, '\r'); i >= 0 {
		// A progress display rewrites its line; the last version counts.
		line = line[i+1:]
	}
	return line
}

// stripANSI removes escape sequences: CSI (ESC [ … letter), OSC (ESC ] … BEL
// or ESC \) and the two-character ones.
func (s *lines) stripANSI(line []byte) []byte {
	out := s.tidy[:0]
	for i := 0; i < len(line); i++ {
		if line[i] != 0x1b {
			out = append(out, line[i])
			continue
		}
		i++
		if i >= len(line) {
			break
		}
		switch line[i] {
		case '[':
			for i++; i < len(line) && (line[i] < 0x40 || line[i] > 0x7e); i++ {
			}
		case ']':
			for i++; i < len(line) && line[i] != 0x07 && line[i] != 0x1b; i++ {
			}
			if i < len(line) && line[i] == 0x1b {
				i++
			}
		}
	}
	s.tidy = out
	return out
}

// after returns what follows prefix, trimmed, and whether s begins with it.
func after(s, prefix string) (string, bool) {
	rest, ok := strings.CutPrefix(s, prefix)
	return strings.TrimSpace(rest), ok
}

// between returns what stands between the first open and the next shut.
func between(s, open, shut string) (string, bool) {
	_, rest, ok := strings.Cut(s, open)
	if !ok {
		return "", false
	}
	inside, _, ok := strings.Cut(rest, shut)
	return inside, ok
}

// quoted returns what stands between the first and the last double quote,
// since a name may itself hold quotes, and what follows it.
func quoted(s string) (inside, rest string, ok bool) {
	first, last := strings.IndexByte(s, '"'), strings.LastIndexByte(s, '"')
	if first < 0 || last == first {
		return "", "", false
	}
	return s[first+1 : last], s[last+1:], true
}
