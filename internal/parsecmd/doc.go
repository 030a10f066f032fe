// Package parsecmd is the body of "fabricctl parse TOOL": it reads a tool's
// text and prints the JSON object that package fabric/parse makes of it. It
// opens no files; start at [Run].
package parsecmd
