package sql

import (
	"context"
	"fmt"
)

// sampleParts is at how many places of the ids a sample is taken.
const sampleParts = 50

// SampleSchedules returns up to about limit schedules of projects, of all where projects is nil, paused ones too, and how many
// there are. Where there are more they are runs of neighbours at places that are spread over the ids, so that it costs the same
// however many there are. Of each it tells ID, ProjectID, Spec and Enabled.
func (s *Store) SampleSchedules(ctx context.Context, projects []int64, limit int) (list []Schedule, total int64, err error) {
	type group struct {
		where       string
		args        []any
		n           int64
		first, last int64
	}
	groups := []group{{where: "1 = 1"}}
	if projects != nil {
		groups = make([]group, len(projects))
		for i, id := range projects {
			groups[i] = group{where: "project_id = ?", args: []any{id}}
		}
	}
	for i := range groups {
		g := &groups[i]
		err := s.read.QueryRowContext(ctx, `SELECT COUNT(*), COALESCE(MIN(id), 0), COALESCE(MAX(id), 0) FROM schedule WHERE `+g.where, g.args...).Scan(&g.n, &g.first, &g.last)
		if err != nil {
			return nil, 0, fmt.Errorf("count schedules: %w", explain(err))
		}
		total += g.n
	}
	read := func(g *group, from int64, most int64) (int64, error) {
		some, err := collect(ctx, s, scanSampled, `SELECT id, project_id, spec, enabled FROM schedule WHERE `+g.where+` AND id >= ? ORDER BY id LIMIT ?`, append(append([]any{}, g.args...), from, most)...)
		if err != nil || len(some) == 0 {
			return g.last + 1, err
		}
		list = append(list, some...)
		return some[len(some)-1].ID + 1, nil
	}
	for i := range groups {
		g := &groups[i]
		if total <= int64(limit) {
			_, err = read(g, g.first, g.n)
		} else {
			share := max(1, int64(limit)*g.n/total)
			each, from := max(1, share/sampleParts), g.first
			for part := int64(0); err == nil && part < min(sampleParts, share) && from <= g.last; part++ {
				from, err = read(g, max(from, g.first+(g.last-g.first)/sampleParts*part), each)
			}
		}
		if err != nil {
			return nil, 0, fmt.Errorf("read a sample of schedules: %w", err)
		}
	}
	return list, total, nil
}

func scanSampled(scan func(...any) error) (sch Schedule, err error) {
	var spec string
	if err = scan(&sch.ID, &sch.ProjectID, &spec, &sch.Enabled); err == nil {
		err = sch.decode(spec)
	}
	return sch, err
}
