// Package redact is the one choke point through which text passes on its way out: to logs, to the chat, to the archive and to
// the audit file. It takes secrets away and strips what a terminal or a chat client would act upon.
//
// It works on text it is handed and may not read files, the environment or the configuration. It is the last line: secrets
// travel as references and should not be in text at all. Give it whole lines or whole texts, for a secret cut in two by a
// buffer is not recognised.
//
// Start at [New]; [Redactor.String] is the choke point, [Redactor.Core] puts it in front of a zap logger and
// [Redactor.Learn] adds a value that was just resolved.
package redact
