// Command fabricctl runs a fabric from a terminal, with the words of the chat.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/fabricbot/fabricbot/internal/terminal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := terminal.Main(ctx, os.Args[1:], terminal.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	stop()
	os.Exit(status)
}
