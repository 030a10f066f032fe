// Package strictyaml reads YAML files that people write by hand, such as the configuration and the inventory, and tells them by
// line and column what is wrong: a key that does not exist comes with the one that was meant.
//
// It knows no particular file and never prints values, since a secret may stand where it does not belong.
//
// Start at [Parse].
package strictyaml
