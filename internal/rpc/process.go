package rpc

// Process is one process of a node: a node keeps its id over restarts, an incarnation
// lives as long as its process.
type Process struct{ Node, Incarnation string }

// String returns "<node>:<incarnation>", the form in which an owner is stored.
func (p Process) String() string { return p.Node + ":" + p.Incarnation }
