// Package pictures turns typed results into PNG and SVG with a text that says
// what they show. One drawing serves both formats, and the fonts come with the
// program, so that a picture looks the same everywhere.
//
// It imports the standard library, fabric, fabric/layout and a drawing library;
// it reads and writes no files and knows nothing of Slack. Colours are never
// alone: whatever is special also has a sign, a line style and words.
//
// Start reading at [Topology].
package pictures
