// Package inventory knows the hosts of a site: how to reach them, where they stand, what is expected in them, and which groups
// they form. It is one YAML file, written by people or made by an importer from an Ansible inventory or from the names found on
// a fabric.
//
// It opens no connection and resolves no names. An Inventory never changes; [Live] holds the current one and takes a new one
// only when the file is good.
//
// Besides the groups of the file there are implicit ones: @site:NAME, @rack:NAME, @leaf:NAME and @role:NAME hold the hosts that
// say so. Where no group has the name and only one of the four kinds knows it, the short form @NAME works too. There is no group
// of all hosts unless the file defines one.
//
// Start at [Load] and [Inventory.Endpoint]; an Inventory is the fabric.HostSource of host expressions.
package inventory
