package sql

import (
	"context"
	"fmt"
)

// Claim takes commands: in one transaction their rows are deleted and their instances get the
// owner, an epoch one higher and a crash count one higher. Commands that another took are
// left out of the answer, and so are those whose instance has an owner already, which
// are deleted: that owner sees the instance's wishes. Where Claim returns an error after the
// transaction was written, Owned tells what was won.
func (s *Store) Claim(ctx context.Context, claims []Claim) ([]Claimed, error) {
	if len(claims) == 0 {
		return nil, nil
	}
	o := &operation{claims: claims}
	s.writer.do(ctx, o)
	if o.err != nil {
		return nil, fmt.Errorf("claim %d commands: %w", len(claims), o.err)
	}
	return s.load(ctx, o.claimed)
}

// claims takes the commands of the batch that are still there.
func (b *batch) claims(ctx context.Context) error {
	if len(b.there) == 0 {
		return nil
	}
	there := b.there
	var taken []int64
	type claimant struct {
		owner  string
		layout int64
	}
	won := map[claimant][]int64{}
	for _, o := range b.ops {
		if o.commit != nil && o.commit.Claim != nil && b.begins(o.commit, there) {
			taken = append(taken, o.commit.Claim.Command.ID)
		}
		for _, c := range o.claims {
			if instance, ok := there[c.Command.ID]; !ok || instance != c.Command.InstanceID {
				continue
			}
			delete(there, c.Command.ID)
			taken = append(taken, c.Command.ID)
			in, found := b.locked[c.Command.InstanceID]
			if !found || in.owner != "" {
				continue
			}
			in.owner, in.epoch = c.Owner, in.epoch+1
			b.locked[c.Command.InstanceID] = in
			by := claimant{c.Owner, c.LayoutEpoch}
			won[by] = append(won[by], c.Command.InstanceID)
			o.claimed = append(o.claimed, ownership{c.Command.InstanceID, in.epoch, c.Owner})
		}
	}
	if err := b.execIDs(ctx, b.s.dial.deleteFrom("command")+` WHERE id IN (%s)`, taken); err != nil {
		return fmt.Errorf("delete commands: %w", err)
	}
	for by, ids := range won {
		err := b.execIDs(ctx, `UPDATE workflow_instance SET owner = ?, owner_epoch = owner_epoch + 1, crash_count = crash_count + 1, layout_epoch = ?,
			write_id = ? WHERE owner = '' AND id IN (%s)`, ids, by.owner, by.layout, b.writeID)
		if err != nil {
			return fmt.Errorf("own instances: %w", err)
		}
	}
	return nil
}

// begins makes an instance the claimant's of its first transition, which then is written like any of an owner's, by
// instanceBegin. Where the command is gone or the instance is another's, the transition finds that it has no owner.
func (b *batch) begins(t *Transition, there map[int64]int64) bool {
	in, found := b.locked[t.Instance.ID]
	if instance, ok := there[t.Claim.Command.ID]; !ok || instance != t.Instance.ID {
		return false
	}
	if !found || in.owner != "" || in.epoch != t.Epoch-1 || in.mark != t.Mark {
		return false
	}
	delete(there, t.Claim.Command.ID)
	in.owner, in.epoch, in.begins = t.Claim.Owner, t.Epoch, true
	b.locked[t.Instance.ID] = in
	return true
}

// commandsThere asks which of the commands that the batch claims still exist.
func (b *batch) commandsThere() []question {
	var ids []int64
	for _, o := range b.ops {
		for _, c := range o.claims {
			ids = append(ids, c.Command.ID)
		}
		if o.commit != nil && o.commit.Claim != nil {
			ids = append(ids, o.commit.Claim.Command.ID)
		}
	}
	b.there = make(map[int64]int64, len(ids))
	return chunked(ids, func(n int) string {
		return `SELECT id, instance_id FROM command` + b.s.dial.byPrimary() + ` WHERE id IN (` + marks(n) + `)` + b.s.dial.forUpdate()
	}, func(scan func(...any) error) error {
		var id, instance int64
		err := scan(&id, &instance)
		b.there[id] = instance
		return err
	})
}
