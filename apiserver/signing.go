package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/document"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/sql"
)

// Sealer seals what only the cluster may read, and opens it: the cluster's key is one.
type Sealer interface {
	Seal(secret, about []byte) ([]byte, error)
	Open(sealed, about []byte) ([]byte, error)
}

// seal seals the secret of a project's listener or reply, which stands at field; nothing stays nothing.
// ${secret.NAME} is kept as it is: its value is read for each delivery.
func (s *Server) seal(ctx context.Context, projectID int64, field, secret string) ([]byte, []dag.FieldError, error) {
	if secret == "" {
		return []byte{}, nil, nil
	}
	if strings.HasPrefix(secret, "${") {
		wrong, err := s.checkNamed(ctx, projectID, field, secret)
		return []byte(secret), wrong, err
	}
	if s.cfg.Secrets == nil {
		return nil, nil, problem(http.StatusServiceUnavailable, "this process has no cluster key to seal a secret with")
	}
	sealed, err := s.cfg.Secrets.Seal([]byte(secret), sql.ListenerSecret(projectID))
	if err != nil {
		return nil, nil, fmt.Errorf("seal secret: %w", err)
	}
	return sealed, nil, nil
}

// checkNamed says what is wrong with a text that names a secret. Naming one takes an editor, as in a definition:
// whoever knows signatures by a password can try which one it is.
func (s *Server) checkNamed(ctx context.Context, projectID int64, field, text string) ([]dag.FieldError, error) {
	name, ok := dag.NamedSecret(text)
	switch {
	case !ok:
		return []dag.FieldError{{Field: field, Code: document.CodeInvalid, Message: "what begins with ${ names a secret: want ${secret.NAME}"}}, nil
	case callOf(ctx).who.role(projectID) < roleEditor:
		return []dag.FieldError{{Field: field, Code: "needs_editor", Value: shown(name), Message: "only an editor of the project may name its secrets"}}, nil
	}
	rows, err := s.store.SecretsNamed(ctx, projectID, []string{name})
	if err != nil {
		return nil, fmt.Errorf("read secret: %w", err)
	}
	if _, known := rows[name]; !known {
		return []dag.FieldError{unknownSecret(field, name)}, nil
	}
	return nil, nil
}

func unknownSecret(field, name string) dag.FieldError {
	return dag.FieldError{
		Field: field, Code: "unknown_secret", Value: shown(name),
		Message: fmt.Sprintf("there is no secret %q, neither in the project nor for all projects", shown(name)),
	}
}

// signedBy returns what the calls of a listener are signed with; nil where they are not.
func (s *Server) signedBy(ctx context.Context, l *sql.Listener) ([]byte, error) {
	if len(l.Secret) == 0 {
		return nil, nil
	}
	if name, ok := dag.NamedSecret(string(l.Secret)); ok {
		return s.namedSecret(ctx, l.ProjectID, name)
	}
	if s.cfg.Secrets == nil {
		return nil, problem(http.StatusServiceUnavailable, "this process has no cluster key to read the secret with")
	}
	secret, err := s.cfg.Secrets.Open(l.Secret, sql.ListenerSecret(l.ProjectID))
	if err != nil {
		return nil, fmt.Errorf("open secret: %w", err)
	}
	return secret, nil
}

// namedSecret returns the value of a secret that the project sees.
func (s *Server) namedSecret(ctx context.Context, projectID int64, name string) ([]byte, error) {
	rows, err := s.store.SecretsNamed(ctx, projectID, []string{name})
	if err != nil {
		return nil, fmt.Errorf("read secret: %w", err)
	}
	row, known := rows[name]
	if !known {
		return nil, wrongField(http.StatusConflict, "secret", "unknown_secret", shown(name), "there is no secret %q any more", shown(name))
	}
	value, err := s.cfg.Keys.Open(row.KeyID, row.Sealed, row.About())
	if errors.Is(err, rpc.ErrNoKeyring) {
		return nil, problem(http.StatusServiceUnavailable, "this process has no secret key to read the secret with")
	}
	if err != nil {
		return nil, fmt.Errorf("open secret: %w", err)
	}
	return value, nil
}
