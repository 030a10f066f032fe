// Package terminal is fabricctl: the words of the chat typed at a terminal,
// with the same grammar, rights and answers, and what makes sense only there
// (parsing a tool's output, looking at hosts directly). Start at [Main].
package terminal
