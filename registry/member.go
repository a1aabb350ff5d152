package registry

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Bounds of what is kept here: a registry is no database.
const (
	// MaxValueBytes is the largest value; etcd refuses requests above 1.5 MiB.
	MaxValueBytes = 1 << 20
	// MaxRecordBytes is the largest member record.
	MaxRecordBytes = 64 << 10
	// maxKeyParts bounds the depth of a key.
	maxKeyParts = 8
	// MinTTL and MaxTTL bound a lease: etcd counts in seconds and raises what is
	// shorter than its election allows; above ten minutes a dead node blocks for too long.
	MinTTL = time.Second
	MaxTTL = 10 * time.Minute
)

// Role is what a member does. A process that does all has one membership per role.
type Role string

// The roles.
const (
	Master    Role = "master"
	Worker    Role = "worker"
	APIServer Role = "apiserver"
)

// Roles lists every role.
func Roles() []Role { return []Role{Master, Worker, APIServer} }

// ParseRole reads a role's word.
func ParseRole(text string) (Role, error) {
	if r := Role(text); slices.Contains(Roles(), r) {
		return r, nil
	}
	return "", fmt.Errorf("role %.40q is not master, worker or apiserver: %w", text, ErrInvalid)
}

// Member is one process in one role, as the others see it. Its JSON is read by older
// and newer versions: fields are only added, and unknown ones are skipped.
type Member struct {
	Role        Role              `json:"role"`
	Node        string            `json:"node"`
	Incarnation string            `json:"incarnation"`        // random per boot
	Address     string            `json:"address,omitempty"`  // of the gRPC server, host:port
	Version     string            `json:"version,omitempty"`  // of the binary
	Groups      []string          `json:"groups,omitempty"`   // worker groups
	Labels      map[string]string `json:"labels,omitempty"`   // of a worker, by name
	Slots       int               `json:"slots,omitempty"`    // attempts that a worker runs at once
	Weight      int               `json:"weight,omitempty"`   // a master's share of the command slots
	StartedAt   int64             `json:"started_at"`         // UTC milliseconds
	Draining    string            `json:"draining,omitempty"` // not empty: takes no new work, and why

	// Takeover tells Join that the caller can prove every other incarnation of the
	// node dead: it holds the lock of the node's data folder. It is never stored.
	Takeover bool `json:"-"`
}

// Check says what is wrong with a member's record, as ErrInvalid.
func (m Member) Check() error {
	if _, err := ParseRole(string(m.Role)); err != nil {
		return err
	}
	if err := CheckName("node", m.Node); err != nil {
		return err
	}
	return CheckName("incarnation", m.Incarnation)
}

// Same says whether the two records name the same process in the same role.
func (m Member) Same(other Member) bool {
	return m.Role == other.Role && m.Node == other.Node && m.Incarnation == other.Incarnation
}

// Encode writes the record as it is stored.
func (m Member) Encode() ([]byte, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	text, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode member %s: %w", m.Node, err)
	}
	if len(text) > MaxRecordBytes {
		return nil, fmt.Errorf("record of member %s has %d bytes, the limit is %d: %w", m.Node, len(text), MaxRecordBytes, ErrInvalid)
	}
	return text, nil
}

// DecodeMember reads a stored record. Unknown fields are skipped, since a newer
// version may have written it.
func DecodeMember(text []byte) (Member, error) {
	var m Member
	if len(text) > MaxRecordBytes {
		return m, fmt.Errorf("member record of %d bytes: %w", len(text), ErrInvalid)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return Member{}, fmt.Errorf("decode member record: %w: %w", ErrInvalid, err)
	}
	if err := m.Check(); err != nil {
		return Member{}, fmt.Errorf("member record: %w", err)
	}
	return m, nil
}

// name is what a node, an incarnation, a cluster id and each part of a key may be:
// safe in a file name, a URL and an etcd key alike.
var name = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

// CheckName says, as ErrInvalid, why text cannot be the named thing.
func CheckName(what, text string) error {
	if !name.MatchString(text) || strings.Trim(text, ".") == "" {
		return fmt.Errorf("%s %.140q: 1 to 128 of A-Z a-z 0-9 . _ - and not dots alone: %w", what, text, ErrInvalid)
	}
	return nil
}

// CheckKey says, as ErrInvalid, why text cannot be a key or folder.
func CheckKey(text string) error {
	parts := strings.Split(text, "/")
	if len(parts) > maxKeyParts {
		return fmt.Errorf("key %.140q has more than %d parts: %w", text, maxKeyParts, ErrInvalid)
	}
	for _, part := range parts {
		if err := CheckName("key part", part); err != nil {
			return err
		}
	}
	return nil
}

// CheckTTL says, as ErrInvalid, why d cannot be a lease.
func CheckTTL(d time.Duration) error {
	if d < MinTTL || d > MaxTTL {
		return fmt.Errorf("lease of %v is not within %v and %v: %w", d, MinTTL, MaxTTL, ErrInvalid)
	}
	return nil
}

// Margin is how long before its end a lease counts as possibly gone: the others'
// clocks started later than ours, but a decision taken on the last instant must
// still reach the wire.
func Margin(ttl time.Duration) time.Duration { return ttl / 6 }

// RenewEvery is how often a lease is renewed: three answers in a row may be lost.
func RenewEvery(ttl time.Duration) time.Duration { return ttl / 4 }
