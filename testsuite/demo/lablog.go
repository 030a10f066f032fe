package demo

import (
	"fmt"
	"io"
	"os"
	"sync"
)

// labLog shows how the lab is built; afterwards what the lab says goes into a
// file, so that it does not stand between what people say.
type labLog struct {
	mu  sync.Mutex
	out io.Writer
}

func (l *labLog) line(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.out, "  "+format+"\n", args...)
}

// move sends all that follows to a file, which stays open as long as the
// program runs.
func (l *labLog) move(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.out = f
	return nil
}
