// Package stories plays what may go wrong at a site, on a whole product: the
// lab's fabric and hosts, the Slack emulator, and fabricd as a process that is
// killed, cut off and lied to. A story acts as people and accidents do and then
// proves its end from outside only: by the lab's own record of opensm starts,
// by fabric tools run past the product, by the messages in the emulator, by the
// audit file and by the archive's commits.
//
// It holds tests alone and may not be imported. Start reading at open in
// house_test.go; every story begins there.
package stories
