package apiserver

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"math/big"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"github.com/porpoise/porpoise/dag/document"
)

// passwordCost is what hashing a password by argon2id takes. A hash has its own in its text, so that those of before can be
// checked once new ones cost more.
type passwordCost struct {
	memoryKiB, time uint32
	threads         uint8
}

// usualCost is OWASP's first choice, and mostCost the bound of what the text of a hash may ask for.
var (
	usualCost = passwordCost{memoryKiB: 19 << 10, time: 2, threads: 1}
	mostCost  = passwordCost{memoryKiB: 64 << 10, time: 8, threads: 4}
)

const (
	argonKey  = 32
	argonSalt = 16
	// maxHashing times the memory is what sign-ins may take together; the others wait their turn.
	maxHashing = 4
)

func (c passwordCost) String() string {
	return fmt.Sprintf("v=%d$m=%d,t=%d,p=%d", argon2.Version, c.memoryKiB, c.time, c.threads)
}

// parseCost reads what String has written; ok is false where it is not of ours, or too much.
func parseCost(version, text string) (c passwordCost, ok bool) {
	var v int
	if n, err := fmt.Sscanf(version+" "+text, "v=%d m=%d,t=%d,p=%d", &v, &c.memoryKiB, &c.time, &c.threads); n != 4 || err != nil || v != argon2.Version {
		return passwordCost{}, false
	}
	return c, c.memoryKiB > 0 && c.memoryKiB <= mostCost.memoryKiB && c.time > 0 && c.time <= mostCost.time && c.threads > 0 && c.threads <= mostCost.threads
}

const (
	minPassword = 12
	maxPassword = 256
)

// hashPassword returns the password's argon2id hash in the usual text form.
func (s *Server) hashPassword(ctx context.Context, password string) (string, error) {
	salt := make([]byte, argonSalt)
	_, _ = rand.Read(salt) // never fails, as crypto/rand documents
	key, err := s.argon(ctx, s.cost, password, salt)
	if err != nil {
		return "", err
	}
	enc := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$%s$%s$%s", s.cost, enc.EncodeToString(salt), enc.EncodeToString(key)), nil
}

// checkPassword compares in constant time. With an empty hash, of a user that does not
// exist, it does the same work and says no.
func (s *Server) checkPassword(ctx context.Context, hash, password string) (bool, error) {
	salt, want := make([]byte, argonSalt), make([]byte, argonKey)
	known, cost := false, s.cost
	if part := strings.Split(hash, "$"); len(part) == 6 && part[1] == "argon2id" {
		var err1, err2 error
		salt, err1 = base64.RawStdEncoding.DecodeString(part[4])
		want, err2 = base64.RawStdEncoding.DecodeString(part[5])
		own, ok := parseCost(part[2], part[3])
		if known = ok && err1 == nil && err2 == nil && len(want) == argonKey; known {
			cost = own
		}
	}
	key, err := s.argon(ctx, cost, password, salt)
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(key, want) == 1 && known, nil
}

func (s *Server) argon(ctx context.Context, cost passwordCost, password string, salt []byte) ([]byte, error) {
	select {
	case s.hashing <- struct{}{}:
		defer func() { <-s.hashing }()
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for a place to hash a password: %w", ctx.Err())
	}
	return argon2.IDKey([]byte(password), salt, cost.time, cost.memoryKiB, cost.threads, argonKey), nil
}

// checkNewPassword refuses what is too short to resist, or made to be guessed.
func checkNewPassword(field, password, user string) *Problem {
	n := utf8.RuneCountInString(password)
	switch {
	case !utf8.ValidString(password):
		return wrongField(422, field, document.CodeEncoding, "", "%s is not valid UTF-8", field)
	case n < minPassword || n > maxPassword:
		return wrongField(422, field, document.CodeOutOfRange, "", "%s must have %d to %d characters", field, minPassword, maxPassword)
	case strings.EqualFold(password, user), strings.Count(password, password[:1]) == len(password):
		return wrongField(422, field, "too_easy", "", "%s is too easy to guess", field)
	}
	return nil
}

// newPassword returns 24 random characters that can be told apart when read aloud.
func newPassword() string {
	const alphabet = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
	b := make([]byte, 24)
	for i := range b {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(alphabet))))
		if err != nil {
			panic(fmt.Sprintf("read random bytes: %v", err))
		}
		b[i] = alphabet[n.Int64()]
	}
	return string(b)
}
