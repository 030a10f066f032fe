// Package workside is what a process needs to do a site's work: the SSH pool,
// the host activities and the workflows, on their task queues. It links no
// Slack code.
package workside
