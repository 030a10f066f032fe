package sshexec

import (
	"bytes"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// capture takes one stream of a command: it drops what comes before the
// marker, keeps the first bytes after it and sends the rest to a file.
// Memory stays bounded whatever the host sends.
type capture struct {
	marker  []byte
	keep    int
	dir     string // for the spill file, empty: drop
	pattern string // of its name
	limit   int64  // of its size
	beat    *atomic.Int64
	onLine  func(string) // called once with the rest of the marker line

	mu      sync.Mutex
	state   int // seeking, inLine, body
	noise   []byte
	kept    []byte
	spill   *os.File
	spilled int64
	cut     bool
	err     error
}

const (
	seeking = iota
	inLine
	body
	// maxNoise of what precedes the marker is kept to search in and to show.
	maxNoise = 64 << 10
)

// Write never fails, so that the host's program is not blocked by our disk.
func (c *capture) Write(p []byte) (int, error) {
	c.beat.Store(time.Now().UnixNano())
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(p)
	if c.state != body {
		c.noise = append(c.noise, p...)
		p = c.advance()
	}
	if c.state == body && len(p) > 0 {
		c.store(p)
	}
	return n, nil
}

// advance looks for the marker and its line end in the noise; it returns the
// bytes after that line.
func (c *capture) advance() []byte {
	if c.state == seeking {
		at := bytes.Index(c.noise, c.marker)
		if at < 0 {
			if over := len(c.noise) - maxNoise; over > 0 {
				c.noise = append(c.noise[:0], c.noise[over:]...)
			}
			return nil
		}
		c.noise = c.noise[at+len(c.marker):]
		c.state = inLine
	}
	end := bytes.IndexByte(c.noise, '\n')
	if end < 0 {
		return nil
	}
	line, rest := string(c.noise[:end]), c.noise[end+1:]
	c.noise, c.state = nil, body
	if c.onLine != nil {
		c.onLine(line)
	}
	return rest
}

func (c *capture) store(p []byte) {
	if room := c.keep - len(c.kept); room > 0 {
		if room > len(p) {
			room = len(p)
		}
		c.kept = append(c.kept, p[:room]...)
		p = p[room:]
	}
	if len(p) == 0 {
		return
	}
	c.cut = true
	if c.dir == "" || c.err != nil {
		return
	}
	if c.spill == nil {
		if c.spill, c.err = os.CreateTemp(c.dir, c.pattern); c.err != nil {
			return
		}
	}
	if int64(len(p)) > c.limit-c.spilled {
		p = p[:c.limit-c.spilled]
	}
	m, err := c.spill.Write(p)
	c.spilled += int64(m)
	if err != nil {
		c.err = err
	}
}

// finish returns what was kept and the name of the spill file. When the marker
// never came, the noise is all there is.
func (c *capture) finish() (kept []byte, spill string, cut bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.spill != nil {
		spill = c.spill.Name()
		if cerr := c.spill.Close(); c.err == nil {
			c.err = cerr
		}
		c.spill = nil
	}
	if c.state != body {
		return nil, spill, c.cut, c.err
	}
	return c.kept, spill, c.cut, c.err
}

// before returns what came instead of the marker, for a message.
func (c *capture) before() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state != seeking {
		return nil
	}
	return bytes.Clone(c.noise)
}
