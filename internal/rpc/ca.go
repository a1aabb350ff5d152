package rpc

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"time"

	"github.com/porpoise/porpoise/registry"
)

const (
	caLife   = 10 * 365 * 24 * time.Hour
	nodeLife = 365 * 24 * time.Hour
	// backdate forgives a new node whose clock is behind the authority's.
	backdate = time.Hour
)

// CA is the cluster's certificate authority with its private key. Only masters and
// apiservers, which hold the cluster key, ever have one.
type CA struct {
	Cluster string
	cert    *x509.Certificate
	key     crypto.Signer
}

// NewCA makes the authority of a cluster, ECDSA P-256, for ten years. It is made once
// per cluster: what Seal gives is kept in the database.
func NewCA(cluster string) (*CA, error) {
	if err := registry.CheckName("cluster id", cluster); err != nil {
		return nil, fmt.Errorf("new certificate authority: %w", err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("new certificate authority: %w", err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber:          serial(),
		Subject:               pkix.Name{CommonName: "Porpoise " + cluster},
		URIs:                  []*url.URL{{Scheme: identityScheme, Host: cluster}},
		NotBefore:             now.Add(-backdate),
		NotAfter:              now.Add(caLife),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
		MaxPathLenZero:        true, // it signs nodes, never another authority
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("new certificate authority: %w", err)
	}
	return newCA(der, key)
}

func newCA(der []byte, key crypto.Signer) (*CA, error) {
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("certificate authority: %w", err)
	}
	cluster, err := clusterOf(cert)
	if err != nil {
		return nil, fmt.Errorf("certificate authority: %w", err)
	}
	public, ok := key.Public().(*ecdsa.PublicKey)
	if !ok || !public.Equal(cert.PublicKey) {
		return nil, errors.New("certificate authority: the key is not the certificate's")
	}
	return &CA{Cluster: cluster, cert: cert, key: key}, nil
}

// clusterOf reads which cluster an authority's certificate is for.
func clusterOf(cert *x509.Certificate) (string, error) {
	if !cert.IsCA || len(cert.URIs) != 1 || cert.URIs[0].Scheme != identityScheme || cert.URIs[0].Path != "" {
		return "", fmt.Errorf("certificate %q is no cluster's authority: %w", cert.Subject.CommonName, ErrIdentity)
	}
	if err := registry.CheckName("cluster id", cert.URIs[0].Host); err != nil {
		return "", fmt.Errorf("%w: %w", ErrIdentity, err)
	}
	return cert.URIs[0].Host, nil
}

// Seal gives the certificate (DER) and the private key sealed by the cluster key, as
// the database keeps them.
func (ca *CA) Seal(key ClusterKey) (cert, sealedKey []byte, err error) {
	der, err := x509.MarshalPKCS8PrivateKey(ca.key)
	if err != nil {
		return nil, nil, fmt.Errorf("seal certificate authority: %w", err)
	}
	sealedKey, err = key.Seal(der, ca.cert.Raw)
	if err != nil {
		return nil, nil, fmt.Errorf("seal certificate authority: %w", err)
	}
	return ca.cert.Raw, sealedKey, nil
}

// LoadCA opens what Seal gave; ErrWrongKey when the cluster key is another.
func LoadCA(cert, sealedKey []byte, key ClusterKey) (*CA, error) {
	der, err := key.Open(sealedKey, cert)
	if err != nil {
		return nil, fmt.Errorf("certificate authority: %w", err)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, fmt.Errorf("certificate authority: key: %w", err)
	}
	signer, ok := parsed.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("certificate authority: key of type %T cannot sign", parsed)
	}
	return newCA(cert, signer)
}

// Hash is the SHA-256 of the authority's certificate, in hex: what join tokens pin.
func (ca *CA) Hash() string { return hashHex(ca.cert.Raw) }

// Issue makes a certificate (DER) for a node, good for a year as client and server.
// Hosts are the DNS names and IP addresses under which others that check names, such
// as etcd's clients, will reach it; our own peers check the identity instead.
func (ca *CA) Issue(id Identity, public crypto.PublicKey, hosts []string) ([]byte, error) {
	return ca.issue(id, public, hosts, time.Now())
}

func (ca *CA) issue(id Identity, public crypto.PublicKey, hosts []string, now time.Time) ([]byte, error) {
	if err := id.Check(); err != nil {
		return nil, fmt.Errorf("issue certificate: %w", err)
	}
	if id.Cluster != ca.Cluster {
		return nil, fmt.Errorf("issue certificate for %s by the authority of %s: %w", id, ca.Cluster, ErrIdentity)
	}
	if err := checkPublicKey(public); err != nil {
		return nil, fmt.Errorf("issue certificate for %s: %w", id, err)
	}
	template := &x509.Certificate{
		SerialNumber:          serial(),
		Subject:               pkix.Name{CommonName: id.Node, Organization: []string{"Porpoise " + string(id.Role)}},
		URIs:                  []*url.URL{id.url()},
		NotBefore:             now.Add(-backdate),
		NotAfter:              now.Add(nodeLife),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, ca.cert, public, ca.key)
	if err != nil {
		return nil, fmt.Errorf("issue certificate for %s: %w", id, err)
	}
	// What cannot be read back, such as a strange host name, must not be handed out.
	if _, err := x509.ParseCertificate(der); err != nil {
		return nil, fmt.Errorf("issue certificate for %s: %w", id, err)
	}
	return der, nil
}

// NewCertificate makes a key and its certificate, for a node that holds the authority.
func (ca *CA) NewCertificate(role registry.Role, node string, hosts ...string) (*Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("new certificate for %s %s: %w", role, node, err)
	}
	der, err := ca.Issue(Identity{Cluster: ca.Cluster, Role: role, Node: node}, key.Public(), hosts)
	if err != nil {
		return nil, err
	}
	return newCertificate(der, ca.cert.Raw, key)
}

// checkPublicKey refuses keys that are weak or that TLS 1.3 has no use for.
func checkPublicKey(public crypto.PublicKey) error {
	switch key := public.(type) {
	case *ecdsa.PublicKey:
		if key.Curve != elliptic.P256() && key.Curve != elliptic.P384() {
			return fmt.Errorf("curve %s is not taken", key.Curve.Params().Name)
		}
		return nil
	case ed25519.PublicKey:
		return nil
	default:
		return fmt.Errorf("public key of type %T is not taken", public)
	}
}

// serial draws 127 random bits: unique without a counter.
func serial() *big.Int {
	raw := make([]byte, 16)
	rand.Read(raw) // it never fails: crypto/rand ends the process instead
	raw[0] &= 0x7f
	return new(big.Int).SetBytes(raw)
}

func hashHex(der []byte) string {
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:])
}
