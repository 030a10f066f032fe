package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestGeneratedFilesAreCurrent(t *testing.T) {
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range files {
		got, err := os.ReadFile(filepath.Join("..", "..", path))
		if err != nil {
			t.Errorf("%v: run `make generate`", err)
			continue
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what the declarations say: run `make generate` and commit the result", path)
		}
	}
}
