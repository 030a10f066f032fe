package audit

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// childEnv makes the test binary play another process; its value says which.
const childEnv = "AUDIT_TEST_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(childEnv) {
	case "writer":
		os.Exit(writerChild(os.Getenv("AUDIT_TEST_FILE")))
	case "full":
		os.Exit(fullDiskChild(os.Getenv("AUDIT_TEST_FILE")))
	}
	os.Exit(m.Run())
}

const perWriter = 25

func writerChild(path string) int {
	log, err := Open(path, func(s string) string { return s })
	if err != nil {
		fmt.Println(err)
		return 1
	}
	for range perWriter {
		if _, err := log.Append(context.Background(), entry(fmt.Sprint("process ", os.Getpid()))); err != nil {
			fmt.Println(err)
			return 1
		}
	}
	return 0
}

func child(t *testing.T, role, path string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), childEnv+"="+role, "AUDIT_TEST_FILE="+path)
	return cmd
}

func TestManyWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			if out, err := child(t, "writer", path).CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	log := open(t, path)
	for range 4 {
		group.Go(func() {
			for range perWriter {
				if _, err := log.Append(t.Context(), entry("goroutine")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if report, err := verify(t, path); err != nil || report.Entries != 7*perWriter {
		t.Errorf("got %+v, error %v, want %d entries", report, err, 7*perWriter)
	}
}

// fullDiskChild caps the size of files of this process, which makes the kernel cut a write short as a full disk does.
func fullDiskChild(path string) int {
	signal.Ignore(syscall.SIGXFSZ)
	log, err := Open(path, func(s string) string { return s })
	if err != nil {
		fmt.Println(err)
		return 1
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1000, Max: 1000}); err != nil {
		fmt.Println(err)
		return 1
	}
	for range 10 {
		receipt, err := log.Append(context.Background(), entry("filling"))
		if err != nil {
			fmt.Println("error:", err)
			return 0
		}
		fmt.Println("written:", receipt.Seq)
	}
	return 1
}

func TestFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	out, err := child(t, "full", path).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	written, message := 0, ""
	for scanner := bufio.NewScanner(bytes.NewReader(out)); scanner.Scan(); {
		if strings.HasPrefix(scanner.Text(), "written:") {
			written++
		} else {
			message = scanner.Text()
		}
	}
	if written == 0 || !strings.Contains(message, "not recorded and must not happen") {
		t.Fatalf("no clear error after %d entries: %s", written, out)
	}
	if report, err := verify(t, path); err != nil || report.Entries != written {
		t.Errorf("got %+v, error %v, want the %d entries that were confirmed and no torn line", report, err, written)
	}
}
