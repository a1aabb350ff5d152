package rpc

import "strings"

// Process is one process of a node: a node keeps its id over restarts, an incarnation
// lives as long as its process.
type Process struct{ Node, Incarnation string }

// String returns "<node>:<incarnation>", the form in which an owner is stored.
func (p Process) String() string { return p.Node + ":" + p.Incarnation }

// ParseProcess reads an owner text. One without an incarnation is all node.
func ParseProcess(owner string) Process {
	at := strings.LastIndexByte(owner, ':')
	if at < 0 {
		return Process{Node: owner}
	}
	return Process{Node: owner[:at], Incarnation: owner[at+1:]}
}
