package parsecmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/fabricbot/fabricbot/fabric/parse"
)

// ErrNoSuchTool is returned for a tool that has no parser.
var ErrNoSuchTool = errors.New("no parser for this tool")

// Run parses in as the output of tool and writes one JSON object and a
// newline to out. Nothing is written when it returns an error, which the
// caller shows on one line and answers with exit status 2: the text was not
// this tool's ([parse.ErrNotUnderstood]) or there is no such parser. A text in
// which the tool reports its own failure is no error; the object then has the
// key "error".
func Run(tool string, in io.Reader, out io.Writer) error {
	p, ok := parse.Tool(tool)
	if !ok {
		return fmt.Errorf("%w: %q; known are %s", ErrNoSuchTool, tool, strings.Join(parse.Tools(), ", "))
	}
	v, err := p(in)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("writing what was parsed of %s: %w", tool, err)
	}
	return nil
}
