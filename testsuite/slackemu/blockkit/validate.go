package blockkit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Surface is a place where blocks are shown.
type Surface string

// The three surfaces of docs.slack.dev/reference/block-kit/blocks.
const (
	Message Surface = "message"
	Modal   Surface = "modal"
	Home    Surface = "home"
)

// Block counts per surface (docs.slack.dev/reference/block-kit/blocks).
const (
	MaxMessageBlocks = 50
	MaxViewBlocks    = 100
)

// Problem is one refusal, with the JSON pointer of the place it is about.
type Problem struct {
	Message string `json:"message"`
	Pointer string `json:"pointer"`
}

// String gives the form Slack puts into "errors" and response_metadata.
func (p Problem) String() string {
	return fmt.Sprintf("%s [json-pointer:%s]", p.Message, p.Pointer)
}

// Env tells the judge what it cannot know from the JSON alone.
type Env struct {
	// SlackFile says whether a slack_file reference (either id or url is set)
	// can be shown as an image. Nil accepts every reference.
	SlackFile func(id, url string) error
	// NotRolledOut lists block types which this workspace does not know yet.
	NotRolledOut map[string]bool
}

// Decode reads a JSON text into the generic form the judge works on.
// Numbers stay json.Number, so that no precision is lost.
func Decode(text string) (any, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("decode block JSON: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("decode block JSON: text after the first value")
	}
	return v, nil
}

// Blocks judges a list of blocks for a surface. At is the JSON pointer of the
// list, such as "/blocks".
func Blocks(s Surface, list []any, at string, env Env) []Problem {
	v := &walk{surface: s, env: env, blockIDs: map[string]bool{}}
	v.blocks(list, at)
	return v.problems
}

// View judges a modal or home view. At is its JSON pointer, usually "/view".
func View(view map[string]any, at string, env Env) []Problem {
	kind, _ := view["type"].(string)
	row, ok := viewRows[kind]
	if !ok {
		return []Problem{{Message: "must be one of: modal, home", Pointer: at + "/type"}}
	}
	v := &walk{surface: Surface(kind), env: env, blockIDs: map[string]bool{}}
	v.object(row, at, view)
	if kind == "modal" && v.inputs > 0 && view["submit"] == nil {
		v.add(at, "missing required field: submit (the view holds an input block)")
	}
	if v.focused > 1 {
		v.add(at+"/blocks", "only one element may have focus_on_load")
	}
	return v.problems
}

var viewRows = map[string]row{
	"modal": {fields: fields{
		"type":             need(text(1, 20)),
		"title":            need(plain(1, 24)),
		"blocks":           need(blockList),
		"submit":           plain(1, 24),
		"close":            plain(1, 24),
		"private_metadata": text(0, 3000),
		"callback_id":      text(0, 255),
		"external_id":      text(0, 255),
		"clear_on_close":   boolean,
		"notify_on_close":  boolean,
		"submit_disabled":  boolean,
	}},
	"home": {fields: fields{
		"type":             need(text(1, 20)),
		"blocks":           need(blockList),
		"private_metadata": text(0, 3000),
		"callback_id":      text(0, 255),
		"external_id":      text(0, 255),
	}},
}

// walk is one judgement under way.
type walk struct {
	surface  Surface
	env      Env
	problems []Problem
	blockIDs map[string]bool
	actions  map[string]bool // action_ids of the block being judged
	markdown int             // runes of all markdown blocks so far
	tables   int
	inputs   int
	focused  int
	depth    int
}

func (v *walk) add(at, format string, args ...any) {
	v.problems = append(v.problems, Problem{Message: fmt.Sprintf(format, args...), Pointer: at})
}

func blockList(v *walk, at string, val any) {
	list, ok := val.([]any)
	if !ok {
		v.add(at, "must provide an array")
		return
	}
	v.blocks(list, at)
}

func (v *walk) blocks(list []any, at string) {
	limit := MaxViewBlocks
	if v.surface == Message {
		limit = MaxMessageBlocks
	}
	if len(list) > limit {
		v.add(at, "no more than %d items allowed", limit)
		return
	}
	for i, b := range list {
		v.block(at+"/"+strconv.Itoa(i), b, nil)
	}
	if v.tables > 1 {
		v.add(at, "only one table is allowed")
	}
	if v.markdown > maxMarkdown {
		v.add(at, "markdown blocks must be less than %d characters together", maxMarkdown+1)
	}
}

// block judges one block; only, when not nil, names the types allowed here.
func (v *walk) block(at string, val any, only map[string]bool) {
	obj, ok := val.(map[string]any)
	if !ok {
		v.add(at, "must provide an object")
		return
	}
	kind, _ := obj["type"].(string)
	r, known := blockRows[kind]
	switch {
	case !known, v.env.NotRolledOut[kind]:
		v.add(at+"/type", "unsupported type: %s", kind)
		return
	case r.surfaces != nil && !r.surfaces[v.surface]:
		v.add(at+"/type", "unsupported type: %s (not allowed on the %s surface)", kind, v.surface)
		return
	case only != nil && !only[kind]:
		v.add(at+"/type", "unsupported type: %s (not allowed inside this block)", kind)
		return
	}
	if id, _ := obj["block_id"].(string); id != "" {
		if v.blockIDs[id] {
			v.add(at+"/block_id", "block_id already exists: %s", id)
		}
		v.blockIDs[id] = true
	}
	outer := v.actions
	v.actions = map[string]bool{}
	v.object(r, at, obj)
	v.actions = outer
}
