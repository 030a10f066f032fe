// Package config is the one YAML file that every program reads: found by -config or FABRICBOT_CONFIG, checked as a whole when it
// is loaded, with line and column of whatever is wrong.
//
// Secrets stand in it by reference only and are read where they are used. The package opens no connection and decides nothing
// about people; package access does that from the section access.
//
// Start at [Load]; [Example] is a complete file with remarks.
package config
