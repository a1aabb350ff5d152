// Package egress calls the URLs that users name, and only those that may be called.
//
// It owns the rule which addresses a user may reach, and the transport that holds to it: the check is
// on the resolved address, in the very connect, so that no second lookup can give another one. It
// follows no proxy and keeps no connection. The type http of workers and the deliveries to listeners use it.
package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// ErrDenied is the cause of a connect that the rule refused.
var ErrDenied = errors.New("address is not allowed")

// maxHeader bounds the head of an answer.
const maxHeader = 64 << 10

// Rule says which addresses may be reached. Link-local and multicast ones never are; the zero value lets
// all others be.
type Rule struct {
	DenyLoopback, DenyPrivate bool
}

// Transport connects only where the rule lets it; connect bounds DNS and TCP together, and TLS once more.
func (r Rule) Transport(connect time.Duration) *http.Transport {
	dialer := &net.Dialer{Timeout: connect, ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		return r.allowed(address)
	}}
	return &http.Transport{
		DialContext: dialer.DialContext, TLSHandshakeTimeout: connect,
		DisableKeepAlives: true, MaxResponseHeaderBytes: maxHeader,
	}
}

// Check returns ErrDenied for a host that is written as an address which may not be reached. A name is
// looked at when it is called.
func (r Rule) Check(host string) error {
	if host == "localhost" {
		host = "127.0.0.1"
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return nil
	}
	return r.allowed(netip.AddrPortFrom(ip.WithZone(""), 0).String())
}

func (r Rule) allowed(address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %s", ErrDenied, address)
	}
	ip := at.Addr().Unmap()
	switch {
	case ip.IsLinkLocalUnicast(), ip.IsLinkLocalMulticast(), ip.IsMulticast():
		return fmt.Errorf("%w: %s is link-local or multicast", ErrDenied, ip)
	case r.DenyLoopback && (ip.IsLoopback() || ip.IsUnspecified()):
		return fmt.Errorf("%w: %s is loopback", ErrDenied, ip)
	case r.DenyPrivate && ip.IsPrivate():
		return fmt.Errorf("%w: %s is private", ErrDenied, ip)
	}
	return nil
}
