package registry

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// What a caller decides on. Everything else is wrapped in ErrUnavailable.
var (
	// ErrNodeTaken says that another incarnation of the node is a live member.
	ErrNodeTaken = errors.New("another incarnation of this node is a member")
	// ErrSessionLost says that the session's lease is gone: its keys are gone too.
	ErrSessionLost = errors.New("the session is lost")
	// ErrSilent says that the session was not renewed for so long that its lease may
	// be gone. Work goes on (the registry may just be away); joining again tells.
	ErrSilent = errors.New("the session was not renewed in time")
	// ErrLeft says that the session ended by Leave.
	ErrLeft = errors.New("the session has left")
	// ErrNotFound says that the key does not exist.
	ErrNotFound = errors.New("key not found")
	// ErrConflict says that an If was not met; nothing was written.
	ErrConflict = errors.New("the condition was not met")
	// ErrUnavailable says that the registry did not answer. A write may have happened.
	ErrUnavailable = errors.New("the registry is not available")
	// ErrDenied is an ErrUnavailable that does not pass by itself: the registry does not let us in.
	ErrDenied = errors.New("the registry does not let this process in")
	// ErrInvalid says that a name, key or record breaks the rules of this package.
	ErrInvalid = errors.New("invalid")
)

// Registry is the cluster's membership, its locks and its shared keys. All methods
// may be called from any goroutine; each call is bounded by its context and, within
// it, by the implementation's own limit per request.
type Registry interface {
	// Join makes m a member for as long as the session is renewed, which the session
	// does itself. The lease lasts ttl, rounded up to what the server grants. When
	// the node is a member under another incarnation the answer is ErrNodeTaken,
	// unless m.Takeover: then the predecessor's lease is revoked at once, with all
	// its keys and locks. The same incarnation always replaces its own record.
	Join(ctx context.Context, m Member, ttl time.Duration) (Session, error)

	// Watch sends the list of a role's members: the whole list first, then again
	// after every change, until ctx ends, which closes the channel. A receiver that
	// is slow gets the newest list only. While the registry is away nothing is sent.
	// The error is only ever ErrInvalid: a registry that does not answer is tried
	// again for as long as ctx lives.
	Watch(ctx context.Context, role Role) (<-chan View, error)

	// Lock waits until the session holds the lock of that name. It is not reentrant.
	// It ends with ErrSessionLost when the session does, and leaves no claim behind
	// when ctx ends first.
	Lock(ctx context.Context, s Session, name string) (Lock, error)

	Store
}

// Session is one membership. Whoever joined must call Leave in the end, also after
// Lost: it returns when everything that the session started has returned.
type Session interface {
	// Member is the record as last written.
	Member() Member
	// Update replaces the record under the same lease; watchers see it as a change.
	// Role, node and incarnation cannot change (ErrInvalid).
	Update(ctx context.Context, m Member) error
	// LastRenewed is when the newest answered renewal was sent: the evidence, by this
	// process's monotonic clock, that the others still see the member.
	LastRenewed() time.Time
	// TTL is the lease as granted.
	TTL() time.Duration
	// Lost closes when the lease is gone, or may be gone: then TTL less a margin has
	// passed since LastRenewed. It is final; a lost session renews nothing.
	Lost() <-chan struct{}
	// Err is nil until Lost closes, then ErrSessionLost, ErrSilent or ErrLeft.
	Err() error
	// Leave revokes the lease, with every key and lock under it. It may be called
	// twice. An error means that the lease will run out instead.
	Leave(ctx context.Context) error
	// Abandon ends the session without revoking its lease, which runs out by itself: what the member
	// holds elsewhere may be alive for as long. It may be called twice, and Leave need not follow.
	Abandon()
}

// Lock is a held lock. Holding is an opinion that may be old; a write that must not
// happen without it names it in If.Held.
type Lock interface {
	// Key is where the lock lives, relative to the cluster.
	Key() string
	// Revision rises with every holder of the lock: the fence.
	Revision() int64
	// Lost closes when the session is lost, and the lock with it.
	Lost() <-chan struct{}
	// Unlock gives the lock up. A lock that is not held any more is no error.
	Unlock(ctx context.Context) error
}

// View is a role's members at one revision, sorted by node.
type View struct {
	Members []Member
	// Revision is the store's revision at which this list was true. It rises with
	// every change of the list, and may rise without one.
	Revision int64
	// Wiped says that the store was emptied, replaced or set back since the last view
	// that was received. An absence in this view proves nothing until members had
	// two leases of time to come back.
	Wiped bool
}

// Store is the cluster's small shared memory. Keys are relative to the cluster, one
// to eight names divided by slashes (CheckKey); values are at most MaxValueBytes.
type Store interface {
	// Get reads a key, ErrNotFound when there is none. It sees every write that was
	// answered before.
	Get(ctx context.Context, key string) (Entry, error)
	// Put writes a key when the condition is met (ErrConflict when not) and gives
	// the revision of the write.
	Put(ctx context.Context, key string, value []byte, cond If) (int64, error)
	// Delete removes a key when the condition is met. Without a condition a missing
	// key is no error.
	Delete(ctx context.Context, key string, cond If) error
	// List reads every key below a folder, sorted by key.
	List(ctx context.Context, folder string) (Listing, error)
	// Follow is to List as Watch is to the members: whole lists, newest wins.
	Follow(ctx context.Context, folder string) (<-chan Listing, error)
}

// Entry is one key with its value.
type Entry struct {
	Key            string
	Value          []byte
	CreateRevision int64
	ModRevision    int64
}

// Listing is a folder's entries at one revision; Revision and Wiped are as in View.
type Listing struct {
	Entries  []Entry
	Revision int64
	Wiped    bool
}

// If is what must be true for a write, in the same transaction. Its zero value asks
// for nothing.
type If struct {
	// ModRevision, when not 0, is the revision that the key must still have.
	ModRevision int64
	// Absent asks that the key does not exist.
	Absent bool
	// Held asks that this very holding of the lock still stands.
	Held Lock
	// Bound, for Put, ties the key to the session: it goes when the session goes.
	Bound Session
	// Others are further keys that must still be as they were seen.
	Others []KeyRevision
}

// MaxOthers bounds If.Others: etcd takes 128 comparisons in a transaction.
const MaxOthers = 120

// KeyRevision is a key with the revision of its last write; 0 says that there is no such key.
type KeyRevision struct {
	Key         string
	ModRevision int64
}

// Check says, as ErrInvalid, why the condition cannot be one.
func (c If) Check() error {
	if len(c.Others) > MaxOthers {
		return fmt.Errorf("a condition of %d other keys, the limit is %d: %w", len(c.Others), MaxOthers, ErrInvalid)
	}
	for _, o := range c.Others {
		if err := CheckKey(o.Key); err != nil {
			return err
		}
	}
	return nil
}

// Offer puts v into a channel of capacity one, in place of what the receiver has not
// taken yet; merge may carry over what must not be lost with the old value. There
// must be one sender only. It is for implementations of Registry.
func Offer[T any](ch chan T, v T, merge func(old, v T) T) {
	select {
	case old := <-ch:
		v = merge(old, v)
	default:
	}
	ch <- v
}

// MergeViews is Offer's merge for views.
func MergeViews(old, v View) View {
	v.Wiped = v.Wiped || old.Wiped
	return v
}

// MergeListings is Offer's merge for listings.
func MergeListings(old, v Listing) Listing {
	v.Wiped = v.Wiped || old.Wiped
	return v
}
