package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/porpoise/porpoise/bench/site"
)

// profileFor is how long processor time is sampled, within what is measured.
const profileFor = 3 * time.Second

// profiled are the flags with which each of the roles serves its profiles, where they are wanted.
func (m *measure) profiled(ctx context.Context, roles ...string) (map[string][]string, error) {
	m.pprof = map[string]string{}
	if m.profile == "" {
		return nil, nil
	}
	flags := map[string][]string{}
	for _, role := range roles {
		address, err := site.FreeAddress(ctx)
		if err != nil {
			return nil, err
		}
		m.pprof[role], flags[role] = address, []string{"--pprof", address}
	}
	return flags, os.MkdirAll(m.profile, 0o755)
}

// record samples the processor time of each process from now on; what it returns waits for the profiles.
func (m *measure) record(ctx context.Context, name string) func() error {
	var all errgroup.Group
	for role, address := range m.pprof {
		all.Go(func() error {
			return m.fetch(ctx, address, fmt.Sprintf("profile?seconds=%d", profileFor/time.Second), role+"-"+name+".cpu")
		})
	}
	return all.Wait
}

// profiles keeps what each process has gathered since its start.
func (m *measure) profiles(ctx context.Context) error {
	var wrong []error
	for role, address := range m.pprof {
		for _, what := range []string{"allocs", "heap", "mutex", "block", "goroutine"} {
			wrong = append(wrong, m.fetch(ctx, address, what, role+"-"+what))
		}
	}
	if m.database == 0 {
		wrong = append(wrong, m.ownStatements(ctx))
	}
	return errors.Join(wrong...)
}

func (m *measure) fetch(ctx context.Context, address, what, name string) (err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/debug/pprof/"+what, http.NoBody)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("profile %s: %w", what, err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("profile %s: %s", what, answer.Status)
	}
	file, err := os.Create(filepath.Join(m.profile, name+".pprof"))
	if err != nil {
		return fmt.Errorf("profile %s: %w", what, err)
	}
	_, err = io.Copy(file, answer.Body)
	return errors.Join(err, file.Close())
}
