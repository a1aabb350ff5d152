package rpc

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/grpc/credentials"

	"github.com/porpoise/porpoise/registry"
)

// errNoCertificate is for servers, which must always show one.
var errNoCertificate = errors.New("the peer shows no certificate")

// ServerTLS is for our gRPC servers: TLS 1.3; a client certificate is checked if there
// is one, and its absence leaves only the calls that need none.
func (c *Certificate) ServerTLS() *tls.Config {
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{c.pair},
		ClientAuth:   tls.VerifyClientCertIfGiven,
		ClientCAs:    c.roots,
		// A ticket would carry an identity past the certificate's end.
		SessionTicketsDisabled: true,
		VerifyConnection: func(state tls.ConnectionState) error {
			if len(state.PeerCertificates) == 0 {
				return nil
			}
			_, err := c.identify(state, x509.ExtKeyUsageClientAuth)
			return err
		},
	}
}

// StrictServerTLS is ServerTLS for servers that have no call without a certificate, such
// as the embedded registry's.
func (c *Certificate) StrictServerTLS() *tls.Config {
	config := c.ServerTLS()
	config.ClientAuth = tls.RequireAndVerifyClientCert
	return config
}

// ClientTLS is for dialing our gRPC servers: TLS 1.3 with this node's certificate, and
// the server must be of this cluster in one of the roles. Its host name is not
// compared: nodes are known by identity, and their addresses change.
func (c *Certificate) ClientTLS(roles ...registry.Role) *tls.Config {
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{c.pair},
		// Standard verification is by host name; VerifyConnection does ours.
		InsecureSkipVerify: true, //nolint:gosec // see VerifyConnection
		VerifyConnection: func(state tls.ConnectionState) error {
			id, err := c.identify(state, x509.ExtKeyUsageServerAuth)
			if err != nil {
				return err
			}
			if !slices.Contains(roles, id.Role) {
				return fmt.Errorf("the server is %s, want role %v: %w", id, roles, ErrIdentity)
			}
			return nil
		},
	}
}

// identify checks the peer's certificate and says who it is.
func (c *Certificate) identify(state tls.ConnectionState, usage x509.ExtKeyUsage) (Identity, error) {
	if len(state.PeerCertificates) == 0 {
		return Identity{}, errNoCertificate
	}
	id, err := verifyNode(c.roots, state.PeerCertificates[0], usage)
	if err != nil {
		return Identity{}, err
	}
	if id.Cluster != c.Identity.Cluster {
		return Identity{}, fmt.Errorf("%s, this is cluster %s: %w", id, c.Identity.Cluster, ErrIdentity)
	}
	return id, nil
}

// Credentials is ClientTLS for Dial.
func (c *Certificate) Credentials(roles ...registry.Role) credentials.TransportCredentials {
	return credentials.NewTLS(c.ClientTLS(roles...))
}
