package rpc

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	"github.com/porpoise/porpoise/registry"
)

// maxCSRBytes bounds a certificate request; one for P-256 has about 300 bytes.
const maxCSRBytes = 8 << 10

// JoinServer answers Master.Join. A master embeds it, or delegates to it.
type JoinServer struct {
	UnimplementedMasterServer
	// CA issues the certificates. Without one every join is refused as unavailable.
	CA *CA
	// VerifyToken says for which role a token (its whole text) lets a node in, and
	// uses it up if it is for one use. ErrToken refuses it; any other error means that
	// it could not be checked, and the node may try again.
	VerifyToken func(ctx context.Context, token string) (role string, err error)
	Logger      hclog.Logger
}

// Join gives a node its certificate. All that is wrong with the request is found
// before the token is looked at, so that it is not used up for nothing. The names in
// the request are ignored: a node gets its identity and nothing else. The reply may be
// lost after a token for one use was used; the node then needs another token.
func (s *JoinServer) Join(ctx context.Context, req *JoinRequest) (*JoinResponse, error) {
	if s.CA == nil || s.VerifyToken == nil {
		return nil, status.Error(codes.Unavailable, "this master gives no certificates")
	}
	id := Identity{Cluster: s.CA.Cluster, Role: registry.Role(req.GetRole()), Node: req.GetNode()}
	if err := id.Check(); err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	csr, err := parseCSR(req.GetCsr())
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	token, err := ParseToken(req.GetToken())
	if err == nil && token.CAHash() != s.CA.Hash() {
		err = fmt.Errorf("%w: it is of another cluster", ErrToken)
	}
	if err != nil {
		return nil, s.refuse(id, err)
	}
	role, err := s.VerifyToken(ctx, req.GetToken())
	if errors.Is(err, ErrToken) {
		return nil, s.refuse(id, err)
	}
	if err != nil {
		s.logger().Error("join token not checked", "node", id.Node, "error", err)
		return nil, status.Error(codes.Unavailable, "the join token could not be checked; try again")
	}
	if role != string(id.Role) {
		return nil, s.refuse(id, fmt.Errorf("%w: it is for a %s", ErrToken, role))
	}
	der, err := s.CA.Issue(id, csr.PublicKey, nil)
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	s.logger().Info("node joined", "node", id.Node, "role", id.Role)
	return &JoinResponse{Certificate: der, Ca: s.CA.cert.Raw, Cluster: s.CA.Cluster}, nil
}

// refuse tells the log why, and the caller only that.
func (s *JoinServer) refuse(id Identity, why error) error {
	s.logger().Warn("join refused", "node", id.Node, "role", id.Role, "reason", why)
	return status.Error(codes.PermissionDenied, ErrToken.Error())
}

func (s *JoinServer) logger() hclog.Logger {
	if s.Logger == nil {
		return hclog.NewNullLogger()
	}
	return s.Logger
}

func parseCSR(der []byte) (*x509.CertificateRequest, error) {
	if len(der) > maxCSRBytes {
		return nil, fmt.Errorf("certificate request of %d bytes, the limit is %d", len(der), maxCSRBytes)
	}
	csr, err := x509.ParseCertificateRequest(der)
	if err != nil {
		return nil, fmt.Errorf("certificate request: %w", err)
	}
	if err := csr.CheckSignature(); err != nil {
		return nil, fmt.Errorf("certificate request: %w", err)
	}
	return csr, checkPublicKey(csr.PublicKey)
}

// Join asks a master for this node's certificate. The token's hash of the authority
// is compared before the token is sent, so that a false master learns nothing.
func Join(ctx context.Context, addr, token, node string, role registry.Role) (*Certificate, error) {
	parsed, err := ParseToken(token)
	if err != nil {
		return nil, fmt.Errorf("join %s: %w", addr, err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("join %s: %w", addr, err)
	}
	csr, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: node}}, key)
	if err != nil {
		return nil, fmt.Errorf("join %s: %w", addr, err)
	}
	conn, err := Dial(ctx, addr, credentials.NewTLS(parsed.pinned()))
	if err != nil {
		return nil, fmt.Errorf("join: %w", err)
	}
	defer conn.Close() // the answer is here or it is not
	answer, err := NewMasterClient(conn).Join(ctx, &JoinRequest{Token: token, Node: node, Role: string(role), Csr: csr})
	if err != nil {
		return nil, fmt.Errorf("join %s: %w", addr, err)
	}
	if hashHex(answer.GetCa()) != parsed.CAHash() {
		return nil, fmt.Errorf("join %s: the answer is of another authority: %w", addr, ErrIdentity)
	}
	cert, err := newCertificate(answer.GetCertificate(), answer.GetCa(), key)
	if err != nil {
		return nil, fmt.Errorf("join %s: %w", addr, err)
	}
	if cert.Identity.Node != node || cert.Identity.Role != role {
		return nil, fmt.Errorf("join %s: asked to be %s %s, the certificate says %s: %w", addr, role, node, cert.Identity, ErrIdentity)
	}
	return cert, nil
}

// pinned trusts a master of the authority that the token names, and nobody else.
func (t Token) pinned() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		// There is no authority to verify by yet: VerifyConnection takes it from the pin.
		InsecureSkipVerify: true, //nolint:gosec // see VerifyConnection
		VerifyConnection: func(state tls.ConnectionState) error {
			for i, ca := range state.PeerCertificates {
				if i == 0 || hashHex(ca.Raw) != t.CAHash() {
					continue
				}
				roots := x509.NewCertPool()
				roots.AddCert(ca)
				id, err := verifyNode(roots, state.PeerCertificates[0], x509.ExtKeyUsageServerAuth)
				if err != nil {
					return err
				}
				if id.Role != registry.Master {
					return fmt.Errorf("the server is %s, not a master: %w", id, ErrIdentity)
				}
				return nil
			}
			return fmt.Errorf("the server is not of the cluster that the token names: %w", ErrIdentity)
		},
	}
}
