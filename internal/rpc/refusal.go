package rpc

import (
	"sync/atomic"
)

// Kind sorts refusals by what was wrong.
type Kind int

// The kinds, in the order of how far a stranger came.
const (
	// RefusedConnection is one that never made a call: no TLS, a certificate of another cluster, garbage.
	RefusedConnection Kind = iota
	// RefusedCaller is a call by who may not make it.
	RefusedCaller
	// RefusedMessage is a call whose messages can't be taken: too large, damaged, or not what the caller may say.
	RefusedMessage
	kinds
)

// String is the kind's word in metrics and logs.
func (k Kind) String() string {
	switch k {
	case RefusedConnection:
		return "connection"
	case RefusedCaller:
		return "caller"
	case RefusedMessage:
		return "message"
	case kinds:
	}
	return "unknown"
}

// Kinds lists every kind.
func Kinds() []Kind { return []Kind{RefusedConnection, RefusedCaller, RefusedMessage} }

// Refusal is one connection or call that was turned away.
type Refusal struct {
	Kind   Kind
	Method string // empty for a connection
	Addr   string // of the peer, host:port
	Peer   string // identity, when it has one
	Reason string
}

// Refusals counts refusals by kind. Its zero value is ready; any goroutine may use it.
type Refusals struct{ counts [kinds]atomic.Int64 }

// Count takes one refusal; it is an OnRefused.
func (c *Refusals) Count(r Refusal) { c.counts[r.Kind].Add(1) }

// Of is how many there were of a kind.
func (c *Refusals) Of(k Kind) int64 { return c.counts[k].Load() }

// Figures are the counts as a master sends them to apiservers.
func (c *Refusals) Figures() *MasterFigures {
	return &MasterFigures{
		RefusedConnections: c.Of(RefusedConnection), RefusedCallers: c.Of(RefusedCaller), RefusedMessages: c.Of(RefusedMessage),
	}
}

// Refused is the count of a kind.
func (f *MasterFigures) Refused(k Kind) int64 {
	switch k {
	case RefusedConnection:
		return f.GetRefusedConnections()
	case RefusedCaller:
		return f.GetRefusedCallers()
	case RefusedMessage:
		return f.GetRefusedMessages()
	case kinds:
	}
	return 0
}
