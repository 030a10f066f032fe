// Package fabric holds the nouns of an InfiniBand or RoCE fabric: GUID, LID,
// port and link states, widths and speeds, the topology of nodes and cables,
// and subnet managers.
//
// It is vocabulary, so it may import the standard library only, does no input
// or output, and knows no tool by name beyond the spellings its parse
// functions accept. Values are plain data: a Topology is safe for concurrent
// readers once it has been built.
//
// Start reading at [Topology], and at [Compare] for what changed; package fabric/parse makes these values from
// the text of the tools.
package fabric
