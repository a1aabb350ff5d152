package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// Artifact is a file that an attempt has left.
type Artifact struct {
	Name      string `json:"name"`
	Size      int64  `json:"size"`
	SHA256    string `json:"sha256"`
	CreatedAt Time   `json:"created_at"`
}

// ErrDamaged says that a file did not come as it is kept.
var ErrDamaged = errors.New("the file came damaged")

func artifactsCall(id, task string, attempt int, rest ...string) call {
	return call{
		method: http.MethodGet,
		path:   append([]string{"instances", id, "tasks", task, "attempts", strconv.Itoa(attempt), "artifacts"}, rest...),
	}
}

// Artifacts lists the files that an attempt has left.
func (c *Client) Artifacts(ctx context.Context, id, task string, attempt int) ([]Artifact, error) {
	var out struct {
		Items []Artifact `json:"items"`
	}
	_, err := c.do(ctx, artifactsCall(id, task, attempt), &out)
	return out.Items, err
}

// DownloadArtifact copies a file that an attempt has left to w. It returns ErrDamaged where the file is not the one that is
// kept; w has it by then.
func (c *Client) DownloadArtifact(ctx context.Context, w io.Writer, id, task string, attempt int, name string) error {
	in := artifactsCall(id, task, attempt, name)
	in.header = http.Header{"Accept": {"application/octet-stream"}}
	resp, err := c.open(ctx, in)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	hash := sha256.New()
	if _, err := io.Copy(io.MultiWriter(w, hash), resp.Body); err != nil {
		return fmt.Errorf("read artifact %q: %w", name, err)
	}
	if want := resp.Header.Get("ETag"); want != `"`+hex.EncodeToString(hash.Sum(nil))+`"` {
		return fmt.Errorf("read artifact %q: %w: its hash is not %s", name, ErrDamaged, want)
	}
	return nil
}
