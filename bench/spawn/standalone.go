package spawn

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
)

// Node is a running standalone node.
type Node struct {
	*Process
	Client *client.Client
	Data   string
}

// Standalone starts a node on a free port and waits until it serves. Args go behind
// its own; the data folder is dir/data, so a second start on the same dir goes on.
func Standalone(ctx context.Context, binary, dir string, args ...string) (*Node, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	p, err := start(binary, dir, "standalone", nil, append([]string{"standalone", "--data", data, "--http", address}, args...))
	if err != nil {
		return nil, err
	}
	n := &Node{Process: p, Data: data}
	if n.Client, err = connect(ctx, p, "http://"+address, data); err != nil {
		p.Kill()
		return nil, err
	}
	return n, nil
}

// connect waits for a server and returns an admin's client of it.
func connect(ctx context.Context, p *Process, url, secrets string) (*client.Client, error) {
	open, err := client.New(client.Config{Server: url})
	if err != nil {
		return nil, err
	}
	if err := ready(ctx, open, p); err != nil {
		return nil, err
	}
	token, err := os.ReadFile(filepath.Join(secrets, "admin-token"))
	if err != nil {
		return nil, fmt.Errorf("read the admin's token: %w", err)
	}
	return client.New(client.Config{Server: url, Token: strings.TrimSpace(string(token)), Agent: "porpoise-bench"})
}

// freeAddress finds a port that nobody uses now. Somebody may take it before the
// process does; then its start fails and says so.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String(), nil
}
