// Package chatside is what a process needs to be the Slack half of a site: the
// bot that listens and the chat activities that speak. It links no SSH code.
package chatside
