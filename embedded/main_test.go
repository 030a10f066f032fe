package embedded

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/fabricbot/fabricbot/internal/engine"
)

// One server runs in the test binary itself, since a second one after it would inherit goroutines and a SQLite handle;
// what needs a process that can be killed starts the test binary again as a child.

const (
	childEnv  = "FABRICBOT_ENGINE_TEST_CHILD" // data directory of a child that serves until it is killed
	kindEnv   = "FABRICBOT_ENGINE_TEST_KIND"  // "int" makes the child ask for another type of FabricOp
	testQueue = "test"
)

var (
	opKey      = temporal.NewSearchAttributeKeyKeyword("FabricOp")
	attributes = map[string]enumspb.IndexedValueType{
		"FabricOp":   enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		"FabricHost": enumspb.INDEXED_VALUE_TYPE_KEYWORD,
	}
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		os.Exit(serveAsChild(dir))
	}
	dir, err := os.MkdirTemp("", "engine-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	sharedDir = filepath.Join(dir, "data dir 100%?#") // characters that mean something in SQLite's URI
	code := m.Run()
	if sharedServer != nil {
		sharedServer.Stop()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

var (
	sharedDir    string
	sharedOnce   sync.Once
	sharedServer *Server
	sharedErr    error
)

// shared starts the one server of this binary at its first use.
func shared(t *testing.T) *Server {
	t.Helper()
	sharedOnce.Do(func() {
		ports, err := freePorts(1)
		if err != nil {
			sharedErr = err
			return
		}
		sharedServer, sharedErr = Start(context.Background(), Options{DataDir: sharedDir, UIPort: ports[0], SearchAttributes: attributes})
	})
	if sharedErr != nil {
		t.Fatal(sharedErr)
	}
	return sharedServer
}

// serveAsChild starts a server with a worker, says "ready" or the error, and serves until stdin is closed.
func serveAsChild(dir string) int {
	o := Options{DataDir: dir, SearchAttributes: attributes}
	if os.Getenv(kindEnv) == "int" {
		o.SearchAttributes = map[string]enumspb.IndexedValueType{"FabricOp": enumspb.INDEXED_VALUE_TYPE_INT}
	}
	s, err := Start(context.Background(), o)
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	c, err := client.Dial(s.ClientOptions())
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	w := newWorker(c)
	if err := w.Start(); err != nil {
		fmt.Println("error:", err)
		return 1
	}
	fmt.Println("ready")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	w.Stop()
	c.Close()
	s.Stop()
	fmt.Println("stopped")
	return 0
}

func newWorker(c client.Client) worker.Worker {
	w := worker.New(c, testQueue, worker.Options{StickyScheduleToStartTimeout: time.Second})
	w.RegisterWorkflowWithOptions(nap, workflow.RegisterOptions{Name: "nap"})
	w.RegisterActivityWithOptions(say, activityName)
	return w
}

// child is a server in another process.
type child struct {
	cmd *exec.Cmd
	out *bufio.Reader
	in  interface{ Close() error }
}

// spawn starts a child on a directory and returns it with its first line, "ready" or "error: …".
func spawn(t *testing.T, dir string, env ...string) (*child, string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), childEnv+"="+dir), env...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &child{cmd: cmd, out: bufio.NewReader(out), in: in}
	t.Cleanup(c.kill)
	line, err := c.out.ReadString('\n')
	if err != nil {
		t.Fatalf("child said %q and ended: %v", line, err)
	}
	return c, strings.TrimSpace(line)
}

// kill ends the child as a power cut would end its process: without a word.
func (c *child) kill() {
	if c.cmd.ProcessState == nil {
		_ = c.cmd.Process.Signal(syscall.SIGKILL)
		_ = c.cmd.Wait()
	}
}

// stop lets the child stop in order.
func (c *child) stop(t *testing.T) {
	t.Helper()
	c.in.Close()
	if line, err := c.out.ReadString('\n'); err != nil || line != "stopped\n" {
		t.Errorf("child said %q, %v on stopping", line, err)
	}
	if err := c.cmd.Wait(); err != nil {
		t.Errorf("child ended with %v", err)
	}
}

// dialDir connects as fabricctl does.
func dialDir(t *testing.T, dir string) client.Client {
	t.Helper()
	cfg, err := engine.FromDataDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	c, err := engine.Dial(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}
