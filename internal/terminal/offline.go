package terminal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"

	"github.com/fabricbot/fabricbot/fabric"
	"github.com/fabricbot/fabricbot/fabric/parse"
	"github.com/fabricbot/fabricbot/internal/config"
	"github.com/fabricbot/fabricbot/internal/inventory"
	"github.com/fabricbot/fabricbot/op"
)

// open opens the file named, or standard input without one.
func (c *command) open(names []string) (io.Reader, func(), error) {
	if len(names) == 0 || names[0] == "-" {
		return c.In, func() {}, nil
	}
	f, err := os.Open(names[0])
	if err != nil {
		return nil, nil, err
	}
	return f, func() { _ = f.Close() }, nil
}

// ops prints the catalog.
func (c *command) ops(words []string) int {
	if len(c.takeJSON(words)) > 0 {
		return c.usage(fmt.Errorf("ops takes only -json"))
	}
	if !c.json {
		return c.help("")
	}
	return c.print(c.index.Entries())
}

func (c *command) print(v any) int {
	enc := json.NewEncoder(c.Out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return c.fail(err)
	}
	return ExitOK
}

// help lists the operations by noun, or explains one.
func (c *command) help(topic string) int {
	if topic != "" {
		words, err := op.Split(topic)
		if err == nil {
			var e op.Entry
			if e, _, err = c.index.Resolve(words); err == nil {
				fmt.Fprint(c.Out, e.Usage())
				return ExitOK
			}
		}
		return c.usage(err)
	}
	byNoun := map[string][]op.Entry{}
	var nouns []string
	for _, e := range c.index.Entries() {
		if byNoun[e.Noun()] == nil {
			nouns = append(nouns, e.Noun())
		}
		byNoun[e.Noun()] = append(byNoun[e.Noun()], e)
	}
	sort.Strings(nouns)
	for _, n := range nouns {
		for _, e := range byNoun[n] {
			fmt.Fprintf(c.Out, "%-18s %-10s %s\n", e.Name, e.Class, e.Summary)
		}
	}
	fmt.Fprintln(c.Out, "\n`fabricctl help NOUN VERB` explains one.")
	return ExitOK
}

// audit proves the audit log.
func (c *command) audit(words []string) int {
	if len(words) != 1 || words[0] != "verify" {
		return c.usage(errors.New("audit takes verify"))
	}
	s, err := c.site()
	if err != nil {
		return c.fail(err)
	}
	report, err := s.VerifyAudit()
	if err != nil {
		return c.fail(err)
	}
	fmt.Fprintf(c.Out, "%d entries, each continues the one before; the last is number %d with hash %s\n", report.Entries, report.Last.Seq, report.Last.Hash)
	return ExitOK
}

// configure prints the commented example, or checks the file in use.
func (c *command) configure(words []string) int {
	switch {
	case len(words) == 1 && words[0] == "example":
		fmt.Fprint(c.Out, config.Example())
		return ExitOK
	case len(words) == 1 && words[0] == "check":
		return c.check()
	}
	return c.usage(fmt.Errorf("config takes example or check"))
}

// inventory writes an inventory made of somebody else's, or of the names found
// on the fabric.
func (c *command) inventory(words []string) int {
	if len(words) != 3 || words[0] != "import" {
		return c.usage(errors.New("for example: inventory import ansible hosts.ini, or inventory import fabric ibnetdiscover.txt"))
	}
	text, err := os.ReadFile(words[2])
	if err != nil {
		return c.fail(err)
	}
	var got inventory.Imported
	switch words[1] {
	case "ansible":
		got, err = inventory.FromAnsible(words[2], text)
	case "fabric":
		got, err = fromFabric(text)
	default:
		return c.usage(fmt.Errorf("%q is neither ansible nor fabric", words[1]))
	}
	if err != nil {
		return c.fail(err)
	}
	out, err := got.File.YAML()
	if err != nil {
		return c.fail(err)
	}
	for _, note := range got.Notes {
		fmt.Fprintln(c.Err, "note:", note)
	}
	if _, err := c.Out.Write(out); err != nil {
		return c.fail(err)
	}
	return ExitOK
}

// fromFabric reads host names out of the output of ibnetdiscover.
func fromFabric(text []byte) (inventory.Imported, error) {
	topo, err := parse.IBNetDiscover(bytes.NewReader(text))
	if err != nil {
		return inventory.Imported{}, err
	}
	var descriptions []string
	for _, n := range topo.Nodes {
		if n.Type == fabric.NodeCA && !n.IsAggregation() {
			descriptions = append(descriptions, n.Description)
		}
	}
	return inventory.FromNodeDescriptions(descriptions)
}
