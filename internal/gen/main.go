// Command gen writes the files that are drawn from the catalog of operations:
// docs/operations.md and deploy/slack-manifest.yaml. It is run from the root of
// the repository by `make generate`; its test fails when a file is not current.
package main

import (
	"fmt"
	"os"

	"github.com/fabricbot/fabricbot/bot"
	"github.com/fabricbot/fabricbot/workflows"
)

func main() {
	files, err := generate()
	for path, content := range files {
		if err == nil {
			err = os.WriteFile(path, content, 0o644)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// generate returns the content of every generated file by its path from the
// root of the repository.
func generate() (map[string][]byte, error) {
	index, err := workflows.Index()
	if err != nil {
		return nil, err
	}
	manifest, err := bot.Manifest(index)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		"deploy/slack-manifest.yaml": manifest,
		"docs/operations.md":         operations(index.Entries()),
	}, nil
}
