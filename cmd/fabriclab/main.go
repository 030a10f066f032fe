// Command fabriclab builds the lab in which fabricbot is proved: a simulated
// fabric with real subnet managers and real SSH hosts. `fabriclab demo` puts the
// product between the lab and a Slack emulator.
package main

import (
	"context"
	"os"

	"github.com/fabricbot/fabricbot/testsuite/demo"
	"github.com/fabricbot/fabricbot/testsuite/lab"
)

func main() {
	lab.HostMain()
	args := os.Args[1:]
	if len(args) > 0 && args[0] == "demo" {
		os.Exit(demo.Main(context.Background(), args[1:], os.Stdout, os.Stderr))
	}
	program := lab.Program{Stdout: os.Stdout, Stderr: os.Stderr}
	os.Exit(program.Run(context.Background(), args))
}
