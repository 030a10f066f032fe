package embedded

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/server/common/log/tag"
	"go.uber.org/zap"
)

func TestServerLog(t *testing.T) {
	dir := t.TempDir()
	l := openServerLog(dir, zap.NewNop())
	l.Info("a start")
	l.Warn("a retry")
	l.Error("a fault", tag.Error(errors.New("disk")))
	l.stopped.Store(true)
	l.Error("a cancelled call")
	l.DPanic("a cancelled call")
	l.close()
	b, err := os.ReadFile(filepath.Join(dir, logFile))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	var got map[string]any
	if err := json.Unmarshal([]byte(lines[0]), &got); err != nil || len(lines) != 1 {
		t.Fatalf("want one line, got:\n%s", b)
	}
	if got["msg"] != "a fault" || got["error"] != "disk" || got["stacktrace"] != nil {
		t.Errorf("got %v", got)
	}
}

// TestFatalWhileStopping wants a server that gives up in the middle of its stop to end that goroutine and nothing else.
func TestFatalWhileStopping(t *testing.T) {
	l := openServerLog(t.TempDir(), zap.NewNop())
	defer l.close()
	l.stopped.Store(true)
	done := make(chan bool)
	go func() {
		defer close(done)
		l.Fatal("shard lost")
	}()
	<-done
}
