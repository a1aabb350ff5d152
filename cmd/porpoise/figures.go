package main

import (
	"sync"
	"syscall"
	"time"

	"github.com/porpoise/porpoise/internal/rpc"
)

// usageEvery is the shortest time over which a share of the processor means anything.
const usageEvery = 500 * time.Millisecond

// usage measures how many cores this process uses.
type usage struct {
	mu    sync.Mutex // guards what follows
	at    time.Time
	spent time.Duration
	cores float64
}

// now is the share since it was asked for last; who asks again at once gets the same.
func (u *usage) now() float64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	took := time.Since(u.at)
	if took < usageEvery {
		return u.cores
	}
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	spent := time.Duration(r.Utime.Nano() + r.Stime.Nano())
	if !u.at.IsZero() {
		u.cores = float64(spent-u.spent) / float64(took)
	}
	u.at, u.spent = time.Now(), spent
	return u.cores
}

// figuresOf are what this process says of itself as a master.
func figuresOf(refusals *rpc.Refusals) func() *rpc.MasterFigures {
	cpu := &usage{}
	return func() *rpc.MasterFigures {
		f := refusals.Figures()
		f.Cpu = cpu.now()
		return f
	}
}
