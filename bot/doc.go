// Package bot is the Slack side: it listens to people and keeps the channel's
// messages equal to the runs.
//
// It has no hands. A command becomes a request to start a run, a click becomes
// a decision on a gate; whether either is right is judged again where the run
// lives. Every entrance acknowledges first and works afterwards; every exit
// escapes, stays within Slack's limits and is said once, also after a crash.
// The package may not import hostexec/sshexec, verbs/ibv, a Temporal client or
// any internal room: programs hand in what [Options] names. Start reading at
// [Bot.Run] for what comes in and at [Thread.Show] for what goes out.
package bot
