package apiserver

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

const (
	sessionCookie = "porpoise_session"
	tokenPrefix   = "pp_"

	// sessionIdle and sessionLife end a session that is not used, and any session.
	sessionIdle = 30 * time.Minute
	sessionLife = 12 * time.Hour
	// touchEvery is how exactly a session's last use is known: a write per request would
	// cost more than the minute is worth.
	touchEvery = time.Minute

	// identityTTL is how long an answer of the database about a secret is believed. A
	// revocation by another process is seen after it; one by this process at once.
	identityTTL = time.Second
	// maxIdentities bounds the cache; beyond it the cache is emptied, which costs reads.
	maxIdentities = 10_000
)

// errUnknown says that a request has no valid token or session.
var errUnknown = errors.New("no valid token or session")

// newSecret returns 256 random bits as text.
func newSecret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails, as crypto/rand documents
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// hashSecret is how secrets with 256 random bits are stored: nothing to guess, so
// nothing to slow down.
func hashSecret(secret string) string {
	h := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(h[:])
}

// identities answers who a secret belongs to, from memory for a second. Callers that need the same answer read it together:
// hundreds of one token would otherwise take every connection of a slow database each second.
type identities struct {
	store            Store
	now              func() time.Time
	tokens, sessions *fresh[string, identity] // by the hash of the secret

	mu      sync.Mutex
	entries map[string]identity
	epoch   uint64 // +1 at each forget: an answer read before it is not kept
}

type identity struct {
	who   *principal
	until time.Time
}

func newIdentities(store Store, now func() time.Time) *identities {
	k := &identities{store: store, now: now, entries: map[string]identity{}}
	k.tokens, k.sessions = newFresh(k.readToken), newFresh(k.readSession)
	return k
}

// forget drops all that is believed: users, roles, tokens or sessions changed.
func (k *identities) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	clear(k.entries)
	k.epoch++
}

func (k *identities) lookup(ctx context.Context, kind, hash string, of *fresh[string, identity]) (*principal, error) {
	now, key := k.now(), kind+hash
	k.mu.Lock()
	e, ok := k.entries[key]
	epoch := k.epoch
	k.mu.Unlock()
	if ok && now.Before(e.until) {
		return e.who, nil
	}
	read, err := of.get(ctx, hash)
	if err != nil {
		return nil, err
	}
	if most := now.Add(identityTTL); read.until.After(most) {
		read.until = most
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.epoch == epoch {
		if len(k.entries) >= maxIdentities {
			clear(k.entries)
		}
		k.entries[key] = read
	}
	return read.who, nil
}

// identify returns who sends r: by its token if it has one, else by its cookie. A wrong
// token is not made good by a right cookie.
func (s *Server) identify(r *http.Request) (*principal, error) {
	if h := r.Header.Values("Authorization"); len(h) > 0 {
		if len(h) > 1 {
			return nil, errUnknown
		}
		scheme, secret, _ := strings.Cut(h[0], " ")
		if !strings.EqualFold(scheme, "Bearer") || !strings.HasPrefix(secret, tokenPrefix) {
			return nil, errUnknown
		}
		return s.known.byToken(r.Context(), hashSecret(secret))
	}
	cookies := r.CookiesNamed(sessionCookie)
	if len(cookies) != 1 || cookies[0].Value == "" {
		return nil, errUnknown
	}
	return s.known.bySession(r.Context(), hashSecret(cookies[0].Value))
}

func (k *identities) byToken(ctx context.Context, hash string) (*principal, error) {
	return k.lookup(ctx, "t", hash, k.tokens)
}

func (k *identities) bySession(ctx context.Context, hash string) (*principal, error) {
	return k.lookup(ctx, "s", hash, k.sessions)
}

func (k *identities) readToken(ctx context.Context, hash string) (identity, error) {
	t, err := k.store.TokenByHash(ctx, hash)
	if err != nil {
		return identity{}, unknownIfAbsent("read a token", err)
	}
	until := k.now().Add(time.Hour)
	if t.ExpiresAt != 0 {
		until = t.ExpiresAt.Time()
		if !k.now().Before(until) {
			return identity{}, errUnknown
		}
	}
	who, err := k.person(ctx, t.UserID)
	if err != nil {
		return identity{}, err
	}
	who.tokenID, who.project = t.ID, t.ProjectID
	if t.Role != "" {
		who.most = parseRole(t.Role)
	}
	return identity{who, until}, nil
}

func (k *identities) readSession(ctx context.Context, hash string) (identity, error) {
	v, err := k.store.Session(ctx, hash)
	if err != nil {
		return identity{}, unknownIfAbsent("read a session", err)
	}
	now := k.now()
	until := min(v.IdleAt, v.ExpiresAt)
	if dag.MillisOf(now) >= until {
		return identity{}, errUnknown
	}
	who, err := k.person(ctx, v.UserID)
	if err != nil {
		return identity{}, err
	}
	who.session = hash
	if now.Sub(v.SeenAt.Time()) >= touchEvery {
		idle := dag.MillisOf(now.Add(sessionIdle))
		if err := k.store.TouchSession(ctx, hash, dag.MillisOf(now), idle); err != nil {
			return identity{}, fmt.Errorf("keep a session: %w", err)
		}
		until = min(idle, v.ExpiresAt)
	}
	return identity{who, until.Time()}, nil
}

// person loads a user with his roles.
func (k *identities) person(ctx context.Context, id int64) (*principal, error) {
	u, err := k.store.UserByID(ctx, id)
	if err != nil {
		return nil, unknownIfAbsent("read a user", err)
	}
	if u.Disabled {
		return nil, errUnknown
	}
	members, err := k.store.Memberships(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read the projects of user %d: %w", id, err)
	}
	who := &principal{userID: u.ID, name: u.Name, admin: u.Admin, mustChange: u.MustChange, most: roleAdmin, roles: make(map[int64]role, len(members))}
	for _, m := range members {
		who.roles[m.ProjectID] = parseRole(m.Role)
	}
	return who, nil
}

func unknownIfAbsent(doing string, err error) error {
	if errors.Is(err, sql.ErrNotFound) {
		return errUnknown
	}
	return fmt.Errorf("%s: %w", doing, err)
}
