package sql

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestWhatFiresAtEndsIsFoundByItsIndex(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Config{DSN: "sqlite:" + filepath.Join(t.TempDir(), "porpoise.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	var plans []string
	s.trace = func(query string, args []any) { plans = append(plans, queryPlan(t, s, query, args)...) }
	if _, err := s.SchedulesAfter(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(plans, "; "); !strings.Contains(got, "schedule_after") || strings.Contains(got, "TEMP B-TREE") {
		t.Errorf("plan %q, want a walk along schedule_after", got)
	}
}
