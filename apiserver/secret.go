package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/sql"
)

// Keys seals and opens the values of secrets.
type Keys interface {
	// Seal encrypts by the key that seals now, and returns that key's id.
	Seal(secret, about []byte) (id string, sealed []byte, err error)
	Open(id string, sealed, about []byte) ([]byte, error)
}

// Secret is a value that tasks name instead of hold. No answer ever has the value.
type Secret struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	AllProjects bool   `json:"all_projects" doc:"Tasks of every project see it, but where their project has one of that name."`
	Key         string `json:"key" doc:"The id of the key that has sealed it."`
	UpdatedAt   Time   `json:"updated_at"`
	UpdatedBy   string `json:"updated_by"`
}

type secretList struct{ Body List[Secret] }

// SecretPath names a secret of a project in a path.
type SecretPath struct {
	ProjectPath
	Name string `path:"name" maxLength:"255" doc:"The secret's name."`
}

// CommonSecretPath names a secret of all projects in a path.
type CommonSecretPath struct {
	Name string `path:"name" maxLength:"255" doc:"The secret's name."`
}

// NewSecret is a secret's value. Its bounds are not in the schema: what breaks them must not be repeated in an error.
type NewSecret struct {
	Value       string `json:"value" doc:"4 bytes to 64 KiB. It is never shown again."`
	Description string `json:"description,omitempty" maxLength:"4096"`
}

type putSecret struct {
	SecretPath
	Body NewSecret
}

type putCommonSecret struct {
	CommonSecretPath
	Body NewSecret
}

type secretAnswer struct {
	Status int
	Body   Secret
}

// Resealed is how many secrets were sealed by another key.
type Resealed struct {
	Key   string `json:"key" doc:"The id of the key that seals now, and that has sealed all secrets."`
	Count int    `json:"count" doc:"How many secrets another key had sealed."`
}

type resealedAnswer struct{ Body Resealed }

func (s *Server) secretRoutes() {
	const own, common = "/projects/{project}/secrets", "/secrets"
	edit, admin := access{need: roleEditor, object: ofProject}, access{need: roleAdmin, object: noObject}
	add(s, spec{
		id: "list-secrets", method: "GET", path: own, tag: "secrets", summary: "List the secrets that tasks of a project may name, without their values",
		access: access{need: roleViewer, object: ofProject},
	}, s.listSecrets)
	add(s, spec{id: "put-secret", method: "PUT", path: own + "/{name}", tag: "secrets", summary: "Make a secret of a project, or give it another value", body: jsonBody, access: edit}, s.putSecret)
	add(s, spec{id: "delete-secret", method: "DELETE", path: own + "/{name}", tag: "secrets", summary: "Delete a secret of a project", access: edit}, s.deleteSecret)
	add(s, spec{id: "list-common-secrets", method: "GET", path: common, tag: "secrets", summary: "List the secrets of all projects, without their values", access: admin}, s.listCommonSecrets)
	add(s, spec{
		id: "put-common-secret", method: "PUT", path: common + "/{name}", tag: "secrets", summary: "Make a secret of all projects, or give it another value",
		body: jsonBody, access: admin,
	}, s.putCommonSecret)
	add(s, spec{id: "delete-common-secret", method: "DELETE", path: common + "/{name}", tag: "secrets", summary: "Delete a secret of all projects", access: admin}, s.deleteCommonSecret)
	add(s, spec{
		id: "rotate-secret-key", method: "POST", path: "/secret-key/rotate", tag: "secrets", summary: "Seal every secret by the first key of the key file", access: admin,
	}, s.rotateSecretKey)
}

func secretFace(x sql.Secret) Secret {
	return Secret{Name: x.Name, Description: x.Description, AllProjects: x.ProjectID == 0, Key: x.KeyID, UpdatedAt: Time(x.UpdatedAt), UpdatedBy: x.UpdatedBy}
}

func (s *Server) listSecrets(ctx context.Context, _ *ProjectPath) (*secretList, error) {
	rows, err := s.visibleSecrets(ctx, callOf(ctx).project.ID)
	if err != nil {
		return nil, err
	}
	return &secretList{Body: list(rows, "", secretFace)}, nil
}

// visibleSecrets are those that tasks of a project see: its own, and those of all that it does not hide.
func (s *Server) visibleSecrets(ctx context.Context, projectID int64) ([]sql.Secret, error) {
	rows, err := s.store.Secrets(ctx, projectID)
	if err != nil {
		return nil, fmt.Errorf("list secrets: %w", err)
	}
	common, err := s.store.Secrets(ctx, 0)
	if err != nil {
		return nil, fmt.Errorf("list secrets: %w", err)
	}
	own := make(map[string]bool, len(rows))
	for _, r := range rows {
		own[r.Name] = true
	}
	for _, r := range common {
		if !own[r.Name] {
			rows = append(rows, r)
		}
	}
	return rows, nil
}

func (s *Server) listCommonSecrets(ctx context.Context, _ *struct{}) (*secretList, error) {
	rows, err := s.store.Secrets(ctx, 0)
	if err != nil {
		return nil, fmt.Errorf("list secrets: %w", err)
	}
	return &secretList{Body: list(rows, "", secretFace)}, nil
}

func (s *Server) putSecret(ctx context.Context, in *putSecret) (*secretAnswer, error) {
	return s.keepSecret(ctx, callOf(ctx).project.ID, in.Name, in.Body)
}

func (s *Server) putCommonSecret(ctx context.Context, in *putCommonSecret) (*secretAnswer, error) {
	return s.keepSecret(ctx, 0, in.Name, in.Body)
}

func (s *Server) keepSecret(ctx context.Context, projectID int64, name string, given NewSecret) (*secretAnswer, error) {
	if wrong := dag.CheckSecret(name, given.Value); len(wrong) > 0 {
		return nil, problem(http.StatusUnprocessableEntity, wrong[0].Field+": "+wrong[0].Message, wrong...)
	}
	row := sql.Secret{ProjectID: projectID, Name: name, Description: given.Description, UpdatedAt: s.at(), UpdatedBy: callOf(ctx).who.name}
	var err error
	if row.KeyID, row.Sealed, err = s.cfg.Keys.Seal([]byte(given.Value), row.About()); err != nil {
		return nil, s.keyProblem(err)
	}
	made, err := s.store.PutSecret(ctx, row)
	if errors.Is(err, sql.ErrFull) {
		return nil, wrongField(http.StatusConflict, "secret", "too_many", "", "there are %d secrets already, which is the most", sql.MaxSecrets)
	}
	if err != nil {
		return nil, fmt.Errorf("put secret: %w", err)
	}
	status := http.StatusOK
	if made {
		status = http.StatusCreated
	}
	return &secretAnswer{Status: status, Body: secretFace(row)}, nil
}

// keyProblem tells a caller that this process has no key, and the log why.
func (s *Server) keyProblem(err error) error {
	if !errors.Is(err, rpc.ErrNoKeyring) && !errors.Is(err, rpc.ErrWrongKey) {
		return err
	}
	s.log.Error("secret not sealed or opened", "error", err)
	if errors.Is(err, rpc.ErrWrongKey) {
		return problem(http.StatusConflict, "a secret was sealed by a key that is not in this apiserver's key file: add it, see docs/secrets.md; the secrets sealed anew so far stay so")
	}
	return problem(http.StatusServiceUnavailable, "this apiserver has no key to seal secrets by: give it the cluster's file (--secret-key-file), see docs/secrets.md")
}

func (s *Server) deleteSecret(ctx context.Context, in *SecretPath) (*struct{}, error) {
	return nil, s.dropSecret(ctx, callOf(ctx).project.ID, in.Name)
}

func (s *Server) deleteCommonSecret(ctx context.Context, in *CommonSecretPath) (*struct{}, error) {
	return nil, s.dropSecret(ctx, 0, in.Name)
}

func (s *Server) dropSecret(ctx context.Context, projectID int64, name string) error {
	if err := s.store.DeleteSecret(ctx, projectID, name); err != nil {
		return fmt.Errorf("delete secret: %w", err)
	}
	return nil
}

// rotateSecretKey may be asked again whatever came of it: what is sealed anew stays so, and the rest follows.
func (s *Server) rotateSecretKey(ctx context.Context, _ *struct{}) (*resealedAnswer, error) {
	probe, _, err := s.cfg.Keys.Seal(nil, nil)
	if err != nil {
		return nil, s.keyProblem(err)
	}
	n, err := s.store.ResealSecrets(ctx, probe, func(row sql.Secret) (sql.Secret, error) {
		value, err := s.cfg.Keys.Open(row.KeyID, row.Sealed, row.About())
		if err == nil {
			row.KeyID, row.Sealed, err = s.cfg.Keys.Seal(value, row.About())
		}
		return row, err
	})
	if err != nil {
		return nil, s.keyProblem(err)
	}
	return &resealedAnswer{Body: Resealed{Key: probe, Count: n}}, nil
}

// noKeys stands where a process has no keys.
type noKeys struct{}

func (noKeys) Seal(_, _ []byte) (string, []byte, error)    { return "", nil, rpc.ErrNoKeyring }
func (noKeys) Open(string, []byte, []byte) ([]byte, error) { return nil, rpc.ErrNoKeyring }

// secretNames are the names that tasks of a project may use, as the preview of parameters wants them: without values.
func (s *Server) secretNames(ctx context.Context, projectID int64) (map[string]string, error) {
	rows, err := s.visibleSecrets(ctx, projectID)
	if err != nil {
		return nil, err
	}
	names := make(map[string]string, len(rows))
	for _, r := range rows {
		names[r.Name] = ""
	}
	return names, nil
}
