package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

const (
	adminName = "admin"
	// linkLife is how long the link on the screen works: the time to walk to a browser.
	linkLife = 15 * time.Minute
	// adminTokenLife is the admin token's, which scripts of this machine use.
	adminTokenLife = 366 * 24 * time.Hour
)

// ErrBootstrapped says that there are users already: the admin's password is his.
var ErrBootstrapped = errors.New("users exist already")

// Bootstrap creates the first admin with a random password, which signs in until he has
// chosen his own, a token for scripts, and the path of a one-time sign-in link, to be put
// behind the server's address. It does so once in the life of a database; later calls, and the losers of a race, get
// ErrBootstrapped. The caller keeps the secrets where only its user can read them.
func (s *Server) Bootstrap(ctx context.Context) (password, token, link string, err error) {
	users, _, err := s.store.Users(ctx, sql.Page{Limit: 1})
	if err != nil {
		return "", "", "", fmt.Errorf("look for users: %w", err)
	}
	if len(users) > 0 {
		return "", "", "", ErrBootstrapped
	}
	password = newPassword()
	hash, err := s.hashPassword(ctx, password)
	if err != nil {
		return "", "", "", err
	}
	u, err := s.store.CreateUser(ctx, sql.User{Name: adminName, PasswordHash: hash, Admin: true, MustChange: true, CreatedAt: s.at(), UpdatedAt: s.at()})
	if errors.Is(err, sql.ErrExists) {
		return "", "", "", ErrBootstrapped
	}
	if err != nil {
		return "", "", "", fmt.Errorf("create the admin: %w", err)
	}
	token = tokenPrefix + newSecret()
	_, err = s.store.CreateToken(ctx, sql.Token{UserID: u.ID, Name: "bootstrap", Hash: hashSecret(token), CreatedAt: s.at(), ExpiresAt: dag.MillisOf(s.now().Add(adminTokenLife))})
	if err != nil {
		return "", "", "", fmt.Errorf("create the admin's token: %w", err)
	}
	if link, err = s.AdminLink(ctx); err != nil {
		return "", "", "", err
	}
	return password, token, link, nil
}

// AdminLink makes a one-time link that signs its opener in as the first admin, for 15
// minutes. It is for whoever runs the server: cmd prints it on the screen.
func (s *Server) AdminLink(ctx context.Context) (path string, err error) {
	u, err := s.store.FirstAdmin(ctx)
	if err != nil {
		return "", err
	}
	secret := newSecret()
	if err := s.store.CreateSignInLink(ctx, sql.SignInLink{Hash: hashSecret(secret), UserID: u.ID, CreatedAt: s.at(), ExpiresAt: dag.MillisOf(s.now().Add(linkLife))}); err != nil {
		return "", fmt.Errorf("create sign-in link: %w", err)
	}
	return s.cfg.BasePath + "/sign-in/" + url.PathEscape(secret), nil
}
