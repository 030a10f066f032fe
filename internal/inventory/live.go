package inventory

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"sync"
	"sync/atomic"
)

// Live holds the inventory of a file that people edit while programs run. Take Current once for one piece of work, so that all
// of it sees the same hosts.
type Live struct {
	path    string
	current atomic.Pointer[Inventory]

	mu  sync.Mutex
	sum []byte // of the text that Current was made from
}

// Open loads the file; it must be good.
func Open(path string) (*Live, error) {
	live := &Live{path: path}
	if _, err := live.Reload(); err != nil {
		return nil, err
	}
	return live, nil
}

// Current is the newest good inventory.
func (l *Live) Current() *Inventory { return l.current.Load() }

// Reload reads the file again and says whether it had changed. After an error the inventory is the one from before.
func (l *Live) Reload() (changed bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	text, err := readFile(l.path)
	if err != nil {
		return false, err
	}
	sum := sha256.Sum256(text)
	if bytes.Equal(sum[:], l.sum) {
		return false, nil
	}
	inv, err := parse(l.path, text)
	if err != nil {
		if l.Current() != nil {
			return false, fmt.Errorf("the inventory before stays in use: %w", err)
		}
		return false, err
	}
	l.current.Store(inv)
	l.sum = sum[:]
	return true, nil
}
