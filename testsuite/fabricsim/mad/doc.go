// Package mad is the language of an InfiniBand fabric's management plane:
// management datagrams (MADs) and the attributes they carry, as bytes and as
// Go values.
//
// It knows layouts and nothing else: no state, no transport, no files. Every
// layout names the place it was taken from, as a section of the InfiniBand
// Architecture Specification volume 1 ("IBTA 14.2.5.6") or a public kernel
// header. Start at [MAD], then [Attribute].
//
// Decoding never fails: an attribute has a fixed size, every bit pattern is a
// value, and data shorter than the attribute reads as if zeros followed.
// Reserved bits are dropped by Decode and written as zero by Encode.
package mad
