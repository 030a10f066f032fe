// Command fabriclab builds the lab in which fabricbot is proved: a simulated
// fabric with real subnet managers and real SSH hosts. It is test material
// and links nothing of the product.
package main

import (
	"context"
	"os"

	"github.com/fabricbot/fabricbot/testsuite/lab"
)

func main() {
	lab.HostMain()
	program := lab.Program{Stdout: os.Stdout, Stderr: os.Stderr}
	os.Exit(program.Run(context.Background(), os.Args[1:]))
}
