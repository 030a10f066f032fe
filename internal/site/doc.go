// Package site opens what a process knows about its site (inventory, rules,
// archive, audit log, redaction) and shapes it for the acts that use it. It
// neither logs in to hosts nor speaks to people.
package site
