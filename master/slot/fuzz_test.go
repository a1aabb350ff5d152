package slot

import (
	"encoding/json"
	"testing"

	"github.com/porpoise/porpoise/registry"
)

// FuzzRead reads whatever stands in the registry: nothing of it brings a master down, and a map that is taken
// names only members that it has.
func FuzzRead(f *testing.F) {
	good, err := json.Marshal(Commit{Epoch: 3, Members: []Master{{Node: "m1", Incarnation: "a", Weight: 1}}, Owners: []int{0, 0, 0, 0}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	for _, text := range []string{
		``, `null`, `{}`, `[]`, `{"epoch":-1}`, `{"epoch":1,"members":[],"owners":[0,0,0,0]}`, `{"epoch":1,"members":[{"node":"m"}],"owners":[0,-2,7,0]}`,
		`{"epoch":9223372036854775807,"members":[{"node":"m","weight":-1}],"owners":[]}`, `{"incarnation":"x","epoch":"y"}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		const slots = 4
		st, err := Read(registry.Listing{Entries: []registry.Entry{
			{Key: PrepareKey, Value: text, ModRevision: 1},
			{Key: CommitKey, Value: text, ModRevision: 2},
			{Key: AckFolder + "/m1", Value: text, ModRevision: 3},
			{Key: "layout/strange", Value: text, ModRevision: 4},
		}}, slots)
		if err == nil && !json.Valid(text) {
			t.Fatalf("%q was read without an error", text)
		}
		if c := st.Commit; c != nil {
			if len(c.Owners) != slots || c.Epoch <= 0 {
				t.Fatalf("a commit of epoch %d with %d slots was taken", c.Epoch, len(c.Owners))
			}
			for _, owner := range c.Owners {
				if owner < 0 || owner >= len(c.Members) {
					t.Fatalf("a slot is member %d's of %d", owner, len(c.Members))
				}
			}
		}
		if st.Prepare != nil && st.Prepare.Epoch <= 0 {
			t.Fatalf("epoch %d is prepared", st.Prepare.Epoch)
		}
	})
}
