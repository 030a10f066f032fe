// Command bench measures.
package main
