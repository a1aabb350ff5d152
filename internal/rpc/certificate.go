package rpc

import (
	"bytes"
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// The files of a node's certificate in its data folder.
const (
	// NodeFile holds the certificate and its key, mode 0600.
	NodeFile = "node.pem"
	// CAFile holds the cluster's authority, for those who want it as a file.
	CAFile = "ca.pem"
)

const (
	pemCert = "CERTIFICATE"
	pemKey  = "PRIVATE KEY"
)

// Certificate is a node's certificate with its key and the authority that issued it.
// It does not change; it may be shared.
type Certificate struct {
	Identity Identity
	NotAfter time.Time

	leaf  *x509.Certificate
	ca    *x509.Certificate
	roots *x509.CertPool
	pair  tls.Certificate
}

// newCertificate puts the parts together and checks that they belong together.
func newCertificate(der, caDER []byte, key crypto.Signer) (*Certificate, error) {
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("node certificate: %w", err)
	}
	ca, err := x509.ParseCertificate(caDER)
	if err != nil {
		return nil, fmt.Errorf("cluster authority: %w", err)
	}
	public, ok := key.Public().(interface{ Equal(crypto.PublicKey) bool })
	if !ok || !public.Equal(leaf.PublicKey) {
		return nil, errors.New("node certificate: the key is another's")
	}
	c := &Certificate{
		NotAfter: leaf.NotAfter,
		leaf:     leaf, ca: ca, roots: x509.NewCertPool(),
		// The authority goes along, so that a joining node can compare it with its pin.
		pair: tls.Certificate{Certificate: [][]byte{der, caDER}, PrivateKey: key, Leaf: leaf},
	}
	c.roots.AddCert(ca)
	if c.Identity, err = verifyNode(c.roots, leaf, x509.ExtKeyUsageAny); err != nil {
		return nil, fmt.Errorf("node certificate: %w", err)
	}
	cluster, err := clusterOf(ca)
	if err != nil {
		return nil, err
	}
	if cluster != c.Identity.Cluster {
		return nil, fmt.Errorf("node certificate %s by the authority of %s: %w", c.Identity, cluster, ErrIdentity)
	}
	return c, nil
}

// verifyNode checks a certificate against the authority, now, and reads who it is.
func verifyNode(roots *x509.CertPool, leaf *x509.Certificate, usage x509.ExtKeyUsage) (Identity, error) {
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{usage}}); err != nil {
		return Identity{}, err
	}
	return identityOf(leaf)
}

// Due says whether less than a third of the certificate's life is left: time to get
// another, see the package comment for how.
func (c *Certificate) Due(now time.Time) bool {
	life := c.leaf.NotAfter.Sub(c.leaf.NotBefore)
	return c.leaf.NotAfter.Sub(now) < life/3
}

// CAHash is the SHA-256 of the cluster's authority, in hex.
func (c *Certificate) CAHash() string { return hashHex(c.ca.Raw) }

// Save writes the certificate to a folder, the key readable by the owner only.
func (c *Certificate) Save(dir string) error {
	key, err := x509.MarshalPKCS8PrivateKey(c.pair.PrivateKey)
	if err != nil {
		return fmt.Errorf("save node certificate: %w", err)
	}
	var node, ca bytes.Buffer
	for _, block := range []*pem.Block{{Type: pemCert, Bytes: c.leaf.Raw}, {Type: pemCert, Bytes: c.ca.Raw}, {Type: pemKey, Bytes: key}} {
		pem.Encode(&node, block) //nolint:errcheck // a buffer takes everything
	}
	pem.Encode(&ca, &pem.Block{Type: pemCert, Bytes: c.ca.Raw}) //nolint:errcheck // a buffer takes everything
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("save node certificate: %w", err)
	}
	// The one file that is read back comes last and is whole in itself.
	if err := writePrivate(filepath.Join(dir, CAFile), ca.Bytes(), true); err != nil {
		return fmt.Errorf("save cluster authority: %w", err)
	}
	if err := writePrivate(filepath.Join(dir, NodeFile), node.Bytes(), true); err != nil {
		return fmt.Errorf("save node certificate: %w", err)
	}
	return nil
}

// LoadCertificate reads what Save wrote: fs.ErrNotExist when there is none, an error
// when it has expired or others can read the key.
func LoadCertificate(dir string) (*Certificate, error) {
	path := filepath.Join(dir, NodeFile)
	text, err := readPrivate(path)
	if err != nil {
		return nil, fmt.Errorf("node certificate: %w", err)
	}
	var certs [][]byte
	var key crypto.Signer
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			break
		}
		switch block.Type {
		case pemCert:
			certs = append(certs, block.Bytes)
		case pemKey:
			parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
			if err != nil {
				return nil, fmt.Errorf("%s: key: %w", path, err)
			}
			key, _ = parsed.(crypto.Signer)
		default:
			return nil, fmt.Errorf("%s: unexpected %q", path, block.Type)
		}
	}
	if len(certs) != 2 || key == nil {
		return nil, fmt.Errorf("%s: has %d certificates and key %t, want 2 and a key", path, len(certs), key != nil)
	}
	c, err := newCertificate(certs[0], certs[1], key)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}
