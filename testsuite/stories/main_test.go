package stories

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fabricbot/fabricbot/testsuite/lab"
	"github.com/fabricbot/fabricbot/testsuite/stage"
)

// house is the stage that all stories share; nil when the machine cannot have
// one, which open says.
var house *stage.Stage

// fabricd is the program that the stage runs.
var fabricd string

func TestMain(m *testing.M) {
	lab.HostMain()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if lab.Missing() != "" {
		return m.Run()
	}
	code, err := staged(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func staged(m *testing.M) (code int, err error) {
	// Under /run, which is memory: the engine syncs at every commit.
	dir, err := os.MkdirTemp("/run", "fabricbot-stories-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	if fabricd, err = program(dir); err != nil {
		return 1, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if house, err = stage.Up(ctx, stage.Options{Hosts: hostCount, Dir: filepath.Join(dir, "stage"), Fabricd: fabricd}); err != nil {
		return 1, err
	}
	// A third approver, so that two can race for one request.
	house.Slack.SetGroup(stage.Approvers, []string{stage.UserA, stage.UserB, userC})
	code = m.Run()
	return code, house.Down()
}

// program is fabricd: the one that FABRICD names, the one in bin when no
// source is newer, else one that is built for this run.
func program(dir string) (string, error) {
	if named := os.Getenv("FABRICD"); named != "" {
		return filepath.Abs(named)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		return "", err
	}
	built := filepath.Join(root, "bin", "fabricd")
	if info, err := os.Stat(built); err == nil {
		newest, err := newestSource(root)
		if err != nil {
			return "", err
		}
		if info.ModTime().After(newest) {
			return built, nil
		}
	}
	out := filepath.Join(dir, "fabricd")
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", out, "./cmd/fabricd")
	build.Dir = filepath.Join(root, "embedded")
	if said, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building fabricd: %w: %s", err, said)
	}
	return out, nil
}

// newestSource is when the product's own sources last changed.
func newestSource(root string) (time.Time, error) {
	var newest time.Time
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			if name := e.Name(); name == ".git" || name == "bin" || name == "testsuite" || name == "testdata" {
				return fs.SkipDir
			}
			return nil
		}
		if ext := filepath.Ext(path); ext != ".go" && ext != ".tmpl" && ext != ".mod" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && info.ModTime().After(newest) {
			newest = info.ModTime()
		}
		return err
	})
	return newest, err
}
