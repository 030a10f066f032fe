package parse

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// longestJSON bounds the JSON that rdma -j may print, in bytes; a host with
// 100,000 queue pairs stays below it.
const longestJSON = 64 << 20

// rdmaRows returns the words of every row that rdma prints, also of its JSON
// (rdma -j), whose objects are turned into the same words. An empty JSON list,
// "there are none", is one row without words. Complaints go to t.
func rdmaRows(s *lines, t *Trouble) [][]string {
	var rows [][]string
	var text bytes.Buffer
	for line, ok := s.text(); ok; line, ok = s.text() {
		if text.Len() > 0 || strings.HasPrefix(line, "[") {
			if text.Len()+len(line) > longestJSON {
				t.Incomplete = true
				break
			}
			text.WriteString(line + "\n")
			continue
		}
		if t.complained(line) {
			continue
		}
		if words := strings.Fields(line); len(words) > 0 {
			rows = append(rows, words)
		}
	}
	if text.Len() == 0 {
		return rows
	}
	return append(rows, rdmaJSON(text.Bytes(), t)...)
}

// rdmaJSON decodes object by object, so that a list that ends in the middle
// still gives its first part.
func rdmaJSON(text []byte, t *Trouble) [][]string {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if _, err := d.Token(); err != nil {
		return nil
	}
	rows := [][]string{}
	for d.More() {
		var object map[string]any
		if err := d.Decode(&object); err != nil {
			t.Incomplete = true
			return rows
		}
		rows = append(rows, rdmaWords(object))
	}
	if _, err := d.Token(); err != nil {
		t.Incomplete = true
	}
	if len(rows) == 0 && !t.Incomplete {
		rows = append(rows, nil)
	}
	return rows
}

// rdmaWords spells one object as its text row: the device first, comm last.
func rdmaWords(object map[string]any) []string {
	text := func(key string) string {
		v, ok := object[key]
		if !ok || v == nil {
			return ""
		}
		return fmt.Sprint(v)
	}
	words := []string{"dev", text("ifname")}
	if port := text("port"); port != "" {
		words = []string{"link", text("ifname") + "/" + port}
	}
	var keys []string
	for key, v := range object {
		switch v.(type) {
		case string, json.Number, bool:
			if key != "ifindex" && key != "ifname" && key != "port" && key != "comm" {
				keys = append(keys, key)
			}
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		words = append(words, key, text(key))
	}
	if comm := text("comm"); comm != "" {
		words = append(words, "comm", comm)
	}
	return words
}
