package site

import "context"

// Program is what a part of a site of one's own runs; Env goes on top of what every part
// has.
type Program struct {
	Path      string
	Args, Env []string
}

// New makes the folder of a site whose parts the caller launches himself. He ends it
// with Stop.
func New() (*Site, error) { return newSite() }

// Launch runs a program as one more part.
func (s *Site) Launch(ctx context.Context, name string, p Program) (*Part, error) {
	return s.start(ctx, name, command{program: p.Path, args: p.Args, env: p.Env})
}

// Once runs a program to its end.
func (s *Site) Once(ctx context.Context, name string, p Program) error {
	return s.runOnce(ctx, name, command{program: p.Path, args: p.Args, env: p.Env})
}

// Relaunch starts a part that has ended again, and waits for nothing.
func (s *Site) Relaunch(ctx context.Context, p *Part) error {
	fresh, err := s.start(ctx, p.Name, p.command)
	if err != nil {
		return err
	}
	s.Parts = s.Parts[:len(s.Parts)-1]
	*p = *fresh // in the place that it had
	return nil
}

// OnStop adds what Stop does after the parts are down, the last added first.
func (s *Site) OnStop(f func(context.Context) error) { s.cleanup = append(s.cleanup, f) }

// Ended says that the part's process is gone.
func (p *Part) Ended() bool { return p.ended() }
