// Package templates holds the words of the bot: one file of message blocks per
// operation on top of a shared base, rendered from the same text either for
// Slack or for a terminal.
//
// Templates give words, never layout: blocks, buttons and limits belong to the
// surface. Whatever a template prints is escaped for its dialect whether or not
// its author thought of it, and text from people or hosts stays on one line.
// The package may import the standard library and fabric only. Start reading at
// [Set.Render], then messages/_base.tmpl.
package templates
