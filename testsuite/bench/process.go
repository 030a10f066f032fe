package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/fabricbot/fabricbot/testsuite/bench/figure"
)

// turnWithin bounds one turn of one contender. The slowest takes seconds on a
// quiet machine; a busy one may need ten times as long.
const turnWithin = 3 * time.Minute

// grace is how long an interrupted program has to end by itself.
const grace = 5 * time.Second

// execute runs a program to its end and measures it with all it waited for.
func execute(ctx context.Context, env []string, argv ...string) ([]byte, figure.Sample, error) {
	ctx, cancel := context.WithTimeout(ctx, turnWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	ownGroup(cmd)
	cmd.Env = append(os.Environ(), env...)
	var out, msg bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &msg
	begin := time.Now()
	err := cmd.Run()
	s := figure.Sample{Wall: time.Since(begin)}
	if cmd.ProcessState != nil {
		s.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	if err != nil {
		return out.Bytes(), s, fmt.Errorf("running %s: %w; it said: %s", argv[0], err, tail(msg.Bytes(), 400))
	}
	return out.Bytes(), s, nil
}

// ownGroup lets a program and its children be ended together, and ends it with
// this process.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = grace
}

func tail(text []byte, n int) []byte {
	text = bytes.TrimSpace(text)
	if len(text) > n {
		text = text[len(text)-n:]
	}
	return text
}
