// Package demo is `fabriclab demo`: the product on a stage, either left up for
// a person to play with, or played through as a tour that prints its transcript
// and fails when anything does not end as it should.
package demo
