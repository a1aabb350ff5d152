package rpc

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

const (
	tokenVersion     = "pj1"
	tokenSecretBytes = 32
)

// ErrToken says that a join token is not valid: malformed, of another cluster,
// unknown, expired or used. JoinServer.VerifyToken answers it for the last three.
var ErrToken = errors.New("the join token is not valid")

// Token is a join token: it proves to the cluster that a node was invited, and to the
// node that it talks to the right cluster. Its text is pj1.<CA hash>.<secret>.
type Token struct {
	caHash [sha256.Size]byte
	secret string
}

// NewToken draws a token for the authority's cluster. The text is shown once; the
// database keeps its Hash.
func (ca *CA) NewToken() Token {
	raw := make([]byte, tokenSecretBytes)
	rand.Read(raw) // it never fails: crypto/rand ends the process instead
	return Token{caHash: sha256.Sum256(ca.cert.Raw), secret: base64.RawURLEncoding.EncodeToString(raw)}
}

// ParseToken reads a token's text, in its one spelling.
func ParseToken(text string) (Token, error) {
	parts := strings.Split(text, ".")
	if len(parts) != 3 || parts[0] != tokenVersion {
		return Token{}, fmt.Errorf("%w: it does not look like pj1.<hash>.<secret>", ErrToken)
	}
	hash, err := hex.DecodeString(parts[1])
	if err != nil || len(hash) != sha256.Size || hex.EncodeToString(hash) != parts[1] {
		return Token{}, fmt.Errorf("%w: its second part is not a SHA-256 in hex", ErrToken)
	}
	secret, err := base64.RawURLEncoding.Strict().DecodeString(parts[2])
	// Re-encoding catches what the decoder forgives, such as line breaks.
	if err != nil || len(secret) != tokenSecretBytes || base64.RawURLEncoding.EncodeToString(secret) != parts[2] {
		return Token{}, fmt.Errorf("%w: its third part is not a secret", ErrToken)
	}
	return Token{caHash: [sha256.Size]byte(hash), secret: parts[2]}, nil
}

// Text is the whole token. It is a secret.
func (t Token) Text() string {
	return tokenVersion + "." + hex.EncodeToString(t.caHash[:]) + "." + t.secret
}

// Hash is what the database knows the token by: the SHA-256 of its text, in hex.
func (t Token) Hash() string { return hashHex([]byte(t.Text())) }

// CAHash is the pin: the SHA-256 of the cluster's authority, in hex.
func (t Token) CAHash() string { return hex.EncodeToString(t.caHash[:]) }

// String hides the secret.
func (t Token) String() string { return tokenVersion + "." + t.CAHash()[:8] + "…" }

// GoString is String, for %#v.
func (t Token) GoString() string { return t.String() }
