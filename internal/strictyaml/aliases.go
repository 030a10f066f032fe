package strictyaml

import "github.com/goccy/go-yaml/ast"

// maxAliases bounds what a small file can grow to: each alias repeats its anchor once.
const maxAliases = 100

// checkAliases refuses files that grow without measure when they are decoded: those with many aliases, and those where an alias
// stands inside an anchor, which multiplies at every level.
func (d *Document) checkAliases() error {
	w := &aliasWalker{}
	ast.Walk(w, d.root)
	if w.nested != nil {
		return d.fail(w.nested.GetToken(), "an alias inside an anchor")
	}
	if w.count > maxAliases {
		return d.fail(d.root.GetToken(), "%d aliases, at most %d are allowed", w.count, maxAliases)
	}
	return nil
}

type aliasWalker struct {
	count    int
	nested   ast.Node
	anchored bool // only on the walkers below an anchor
	top      *aliasWalker
}

func (w *aliasWalker) Visit(node ast.Node) ast.Visitor {
	top := w
	if w.top != nil {
		top = w.top
	}
	switch node.(type) {
	case *ast.AliasNode:
		top.count++
		if w.anchored && top.nested == nil {
			top.nested = node
		}
	case *ast.AnchorNode:
		return &aliasWalker{anchored: true, top: top}
	}
	return w
}
