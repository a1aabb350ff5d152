package rpc

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/porpoise/porpoise/registry"
)

const identityScheme = "porpoise"

// ErrIdentity says that a certificate or text names no node of this cluster.
var ErrIdentity = errors.New("not an identity of this cluster")

// Identity is who holds a certificate: the URI name porpoise://cluster/role/node.
type Identity struct {
	Cluster string
	Role    registry.Role
	Node    string
}

// Check says, as ErrIdentity, what is wrong with the parts.
func (id Identity) Check() error {
	if err := registry.CheckName("cluster id", id.Cluster); err != nil {
		return fmt.Errorf("%w: %w", ErrIdentity, err)
	}
	if _, err := registry.ParseRole(string(id.Role)); err != nil {
		return fmt.Errorf("%w: %w", ErrIdentity, err)
	}
	if err := registry.CheckName("node", id.Node); err != nil {
		return fmt.Errorf("%w: %w", ErrIdentity, err)
	}
	return nil
}

// String is the identity as it stands in a certificate.
func (id Identity) String() string {
	return identityScheme + "://" + id.Cluster + "/" + string(id.Role) + "/" + id.Node
}

// ParseIdentity reads what String wrote, and nothing else: one spelling per identity.
func ParseIdentity(text string) (Identity, error) {
	rest, ok := strings.CutPrefix(text, identityScheme+"://")
	parts := strings.Split(rest, "/")
	if !ok || len(parts) != 3 {
		return Identity{}, fmt.Errorf("%.300q: %w", text, ErrIdentity)
	}
	id := Identity{Cluster: parts[0], Role: registry.Role(parts[1]), Node: parts[2]}
	if err := id.Check(); err != nil {
		return Identity{}, err
	}
	return id, nil
}

// identityOf reads a certificate's identity. Exactly one URI name must be there, so
// that nobody has two.
func identityOf(cert *x509.Certificate) (Identity, error) {
	if len(cert.URIs) != 1 {
		return Identity{}, fmt.Errorf("certificate with %d URI names: %w", len(cert.URIs), ErrIdentity)
	}
	return ParseIdentity(cert.URIs[0].String())
}

func (id Identity) url() *url.URL {
	return &url.URL{Scheme: identityScheme, Host: id.Cluster, Path: "/" + string(id.Role) + "/" + id.Node}
}
