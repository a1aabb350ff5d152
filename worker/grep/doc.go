// Package grep finds the lines of an attempt's output that match a text or an expression.
// It reads windows, one at a time, from whoever has the output; it owns what a line is to
// a reader: without colours and cursor moves, and what a carriage return left of it. It
// holds a window and a bounded line in memory, never an output, and opens no file. The
// worker searches with it for the apiservers.
package grep
