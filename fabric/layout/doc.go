// Package layout places the nodes of a fabric on a plane: hosts below, leaves
// above them, spines and cores on top, by distance from the hosts. A small
// fabric becomes rows of boxes with every host named and every bundle of
// cables a line; a large one becomes boxes with counts ("leaf03 · 18 hosts")
// under grouped spines, in which only the exceptions have names.
//
// It computes and does not draw: it imports the standard library and fabric
// only, and knows nothing of colours, pixels or files. Lengths are points.
//
// Start reading at [Of].
package layout
