// Package blockkit judges Block Kit JSON the way Slack's servers do, from the
// generic decoded form and never from a client library's structs: a judge that
// shares the client's types cannot see what the client gets wrong.
//
// It may not render, send or repair anything. Every rule is a row of a table:
// blocks.go and rows_new.go hold one row per block type, elements.go one per
// element, objects.go one per composition object. Start reading at Blocks and
// View in validate.go. Where Slack's documents leave a doubt the stricter
// reading is taken, so that what passes here passes there.
package blockkit
