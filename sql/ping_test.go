package sql

import (
	"context"
	"testing"
	"time"
)

// A writer that is busy is no database that hangs: reads go on, and nobody is refused.
func TestABusyWriterAnswersAPing(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Config{DSN: "sqlite:" + t.TempDir() + "/x.db", Relaxed: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	err = s.write(t.Context(), func(*sqlTx) error {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		return s.Ping(ctx)
	})
	if err != nil {
		t.Errorf("while something is written: %v", err)
	}
}
