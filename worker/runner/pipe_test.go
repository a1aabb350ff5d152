package runner

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// A process that is just being made shares the open pipes of all others until it has replaced its program. A pipe
// that is closed meanwhile must not be told of any more: the loop would turn until then, for nothing.
func TestAClosedPipeIsNotToldOfWhileANewProcessSharesIt(t *testing.T) {
	t.Parallel()
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(epoll) }()
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = from.Close() }() // as long as it is open, it is what a new process shares
	mine, err := unix.Dup(int(from.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	x := &task{epoll: epoll, pipes: [2]int{mine, -1}, pidfd: -1}
	if err := unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, mine, &unix.EpollEvent{Events: unix.EPOLLIN}); err != nil {
		t.Fatal(err)
	}
	_ = to.Close()
	var events [4]unix.EpollEvent
	if n, err := unix.EpollWait(epoll, events[:], 0); n != 1 {
		t.Fatalf("%d events of a pipe at its end, %v, want 1", n, err)
	}
	x.closePipe(0)
	if n, err := unix.EpollWait(epoll, events[:], 0); n != 0 {
		t.Errorf("%d events of a pipe that is closed, %v, want none", n, err)
	}
}
