package terminal

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/fabricbot/fabricbot/fabric/parse"
	"github.com/fabricbot/fabricbot/internal/parsecmd"
	"github.com/fabricbot/fabricbot/op"
	"github.com/fabricbot/fabricbot/workflows"
)

// Exit statuses of fabricctl.
const (
	ExitOK     = 0
	ExitFailed = 1
	ExitUsage  = 2
	ExitDenied = 3
	ExitPartly = 4
)

// Streams are where a command reads and writes.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// command is one call of fabricctl.
type command struct {
	Streams
	config  string
	json    bool
	verbose bool
	channel string
	save    string
	index   *op.Index
}

const synopsis = `fabricctl runs a fabric from the terminal.

  fabricctl [-config FILE] [-json] NOUN VERB …     start an operation and follow it, e.g. sm status
  fabricctl run NAME ARGS…                         the same with the name as one word
  fabricctl approve|deny RUN [REASON]              decide on a plan
  fabricctl runs list|show|cancel|pause|resume …   look at runs and steer them
  fabricctl help [OPERATION]                       operations, or one in full
  fabricctl ops -json                              the catalog
  fabricctl parse TOOL [FILE]                      a tool's output as JSON
  fabricctl host run -hosts EXPR -- ARGV…          one looking command on many hosts, directly
  fabricctl audit verify                           whether the audit log is whole and unchanged
  fabricctl config example|check                   the configuration file
  fabricctl whoami                                 your id for the access rules
  fabricctl engine link                            the sign-in link of the engine's page
  fabricctl inventory import ansible|fabric FILE   an inventory from Ansible's, or from ibnetdiscover's output

Before the words: -config FILE, -json, -v, -save DIR (keep a run's files there), -channel ID (let the run speak in a channel).

Exit status: 0 ok, 1 failed, 2 usage, 3 denied or expired, 4 partly failed.
`

// Main runs one command line and returns the exit status.
func Main(ctx context.Context, args []string, s Streams) int {
	c := &command{Streams: s}
	flags := flag.NewFlagSet("fabricctl", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&c.config, "config", "", "")
	flags.BoolVar(&c.json, "json", false, "")
	flags.BoolVar(&c.verbose, "v", false, "")
	flags.StringVar(&c.channel, "channel", "", "")
	flags.StringVar(&c.save, "save", "", "")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(c.Out, synopsis)
			return ExitOK
		}
		return c.usage(err)
	}
	var err error
	if c.index, err = workflows.Index(); err != nil {
		return c.fail(err)
	}
	return c.dispatch(ctx, flags.Args())
}

func (c *command) dispatch(ctx context.Context, words []string) int {
	if len(words) == 0 {
		fmt.Fprint(c.Err, synopsis)
		return ExitUsage
	}
	switch words[0] {
	case "parse":
		return c.parse(words[1:])
	case "ops":
		return c.ops(words[1:])
	case "audit":
		return c.audit(words[1:])
	case "config":
		return c.configure(words[1:])
	case "inventory":
		return c.inventory(words[1:])
	case "whoami":
		return c.whoami(words[1:])
	case "engine":
		return c.engine(words[1:])
	case "host":
		if len(words) > 1 && words[1] == "run" {
			return c.hostRun(ctx, words[2:])
		}
	case "run":
		words = words[1:]
		if len(words) > 0 {
			words = append(strings.Fields(words[0]), words[1:]...)
		}
	}
	words = c.takeJSON(words)
	e, rest, err := c.index.Resolve(words)
	if err != nil {
		return c.usage(err)
	}
	input, err := e.Parse(rest)
	if err != nil {
		return c.usage(err)
	}
	if e.Name == "help" {
		return c.help(input.(workflows.HelpInput).Topic)
	}
	return c.operate(ctx, e, strings.Join(words, " "), input)
}

// takeJSON allows -json behind the operation as well as before it.
func (c *command) takeJSON(words []string) []string {
	var rest []string
	for _, w := range words {
		if w == "-json" || w == "--json" {
			c.json = true
			continue
		}
		rest = append(rest, w)
	}
	return rest
}

func (c *command) usage(err error) int {
	fmt.Fprintln(c.Err, "fabricctl:", err)
	return ExitUsage
}

func (c *command) fail(err error) int {
	fmt.Fprintln(c.Err, "fabricctl:", err)
	return ExitFailed
}

func (c *command) parse(words []string) int {
	if len(words) == 0 || len(words) > 2 {
		return c.usage(fmt.Errorf("parse takes a tool and perhaps a file; tools: %s", strings.Join(parse.Tools(), ", ")))
	}
	in, closeIn, err := c.open(words[1:])
	if err != nil {
		return c.usage(err)
	}
	defer closeIn()
	if err := parsecmd.Run(words[0], in, c.Out); err != nil {
		return c.usage(err)
	}
	return ExitOK
}
