// Package pictures turns typed results into PNG and SVG with a text that says
// what they show. One drawing serves both formats. The PNG uses fonts that come
// with the program; the SVG names Liberation Sans and, for viewers without it,
// fonts of the same widths.
//
// It imports the standard library, fabric, fabric/layout and a drawing library;
// it reads and writes no files and knows nothing of Slack. Colours are never
// alone: whatever is special also has a sign, a line style and words.
//
// Start reading at [Topology].
package pictures
