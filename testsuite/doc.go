// Package testsuite proves what holds for the whole house and belongs to no
// room: who may import whom, that every operation is complete, that what is
// generated is current. The lab and the Slack emulator are in its folders.
//
// It sees everything and nothing sees it. Start reading at fences_test.go.
package testsuite
