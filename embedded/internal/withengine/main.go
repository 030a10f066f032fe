// Command withengine runs another command beside a fresh embedded engine, whose
// data directory it names in FABRICBOT_ENGINE. It serves whoever needs a real
// engine from the root module, which holds no server; see `make histories`.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/fabricbot/fabricbot/embedded"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "withengine:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, argv []string) error {
	if len(argv) > 0 && argv[0] == "--" {
		argv = argv[1:]
	}
	if len(argv) == 0 {
		return fmt.Errorf("usage: withengine -- COMMAND ARGS…")
	}
	dir, err := os.MkdirTemp("", "fabricbot-engine-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	server, err := embedded.Start(ctx, embedded.Options{DataDir: dir})
	if err != nil {
		return err
	}
	defer server.Stop()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "FABRICBOT_ENGINE="+dir)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("running %s: %w", argv[0], err)
	}
	return nil
}
