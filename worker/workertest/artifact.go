package workertest

import (
	"crypto/sha256"
	"errors"
	"io"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/porpoise/porpoise/internal/rpc"
)

// shelf is the artifacts that a Master has, and how it takes others.
type shelf struct {
	kept   map[string]map[string]string // by token, then by name
	tries  int
	answer func(token string) error // nil: it keeps them
	gives  map[string]string        // what it has for who uses it, by name
}

// Keeps sets how the master answers who sends artifacts: an error is the answer, nil is that they are kept.
func (m *Master) Keeps(answer func(token string) error) {
	m.change(func() { m.shelf.answer = answer })
}

// Gives sets what the master has for attempts that use the artifact of that name.
func (m *Master) Gives(name, content string) {
	m.change(func() {
		if m.shelf.gives == nil {
			m.shelf.gives = map[string]string{}
		}
		m.shelf.gives[name] = content
	})
}

// Kept is what an attempt has left, by name; nil where it has left nothing.
func (m *Master) Kept(token string) map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.shelf.kept[token]
}

// AwaitTries waits until artifacts were sent so often, whatever the answers were.
func (m *Master) AwaitTries(n int) {
	m.t.Helper()
	m.Until("artifacts", func() bool { return m.shelf.tries >= n })
}

// KeepArtifacts is a worker's stream of what an attempt leaves.
func (m *Master) KeepArtifacts(in rpc.Master_KeepArtifactsServer) error {
	files := map[string]string{}
	token, name := "", ""
	for {
		part, err := in.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if part.GetAttempt() != nil {
			token = part.GetAttempt().GetToken()
		}
		if part.GetName() != "" {
			name, files[part.GetName()] = part.GetName(), ""
		}
		files[name] += string(part.GetData())
		if sum := sha256.Sum256([]byte(files[name])); len(part.GetSha256()) > 0 && string(sum[:]) != string(part.GetSha256()) {
			return status.Error(codes.DataLoss, name)
		}
	}
	var answer func(string) error
	m.change(func() {
		m.shelf.tries++
		answer = m.shelf.answer
	})
	if answer != nil {
		if err := answer(token); err != nil {
			return err
		}
	}
	delete(files, "") // of the first part, which begins none
	m.change(func() {
		if m.shelf.kept == nil {
			m.shelf.kept = map[string]map[string]string{}
		}
		m.shelf.kept[token] = files
	})
	return in.SendAndClose(&rpc.ArtifactsKept{})
}

// ReadArtifacts gives what Gives has said.
func (m *Master) ReadArtifacts(query *rpc.ArtifactQuery, out rpc.Master_ReadArtifactsServer) error {
	name := query.GetInput().GetName()
	m.mu.Lock()
	content, ok := m.shelf.gives[name]
	m.mu.Unlock()
	if !ok {
		return status.Error(codes.NotFound, "not found")
	}
	sum := sha256.Sum256([]byte(content))
	for _, part := range []*rpc.ArtifactPart{{Name: name}, {Data: []byte(content)}, {Sha256: sum[:]}} {
		if err := out.Send(part); err != nil {
			return err
		}
	}
	return nil
}
