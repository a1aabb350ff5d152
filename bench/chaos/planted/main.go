// Command planted plants one bug after another into the product and demands that a chaos
// run with its verdict catches each: it tests the judge.
//
// It changes no file of the tree: the go command is given an overlay. A bug's run is a
// small cluster under the faults that should bring it out; it may be tried with several
// seeds. Bugs that share a course of faults are a family, and before its first bug the product
// as it is goes through that course: were it flagged, a flag on a bug would say nothing. It
// prints a table and exits 1 if a bug survives, if a control is flagged, if a planted text no
// longer stands in its file exactly once, or if a mutant does not compile. "make planted" runs
// all.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/porpoise/porpoise/bench/site"
)

// edit is one change: old stands exactly once in the file and becomes new.
type edit struct{ file, old, new string }

// bug is one planted bug and the run that should catch it.
type bug struct {
	name    string
	under   family
	shapes  string // workflows of the load, by commas; "" for all
	edits   []edit
	promise string // one that is expected to be broken; others count as well
}

// limit is how long all tries of one bug may take.
const limit = 10 * time.Minute

func main() {
	only := flag.String("only", "", "try only bugs whose name contains one of these, by commas, or of the family of this name")
	tries := flag.Int("tries", 3, "seeds that a bug may survive")
	keep := flag.String("keep", "", "folder for binaries and evidence; a temporary one when not given")
	part := flag.String("part", "1/1", "of several runs side by side: 2/3 is the second of three")
	control := flag.Bool("control", true, "run each family of faults with nothing planted, too")
	list := flag.Bool("check", false, "only see that every bug can still be planted and compiles")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o := options{only: *only, tries: *tries, dir: *keep, check: *list, control: *control && !*list, part: 1, parts: 1}
	if _, err := fmt.Sscanf(*part, "%d/%d", &o.part, &o.parts); err != nil || o.parts < 1 {
		fmt.Fprintln(os.Stderr, "planted: -part wants a part such as 1/2")
		os.Exit(2)
	}
	if err := run(ctx, o); err != nil {
		stop()
		fmt.Fprintln(os.Stderr, "planted:", err)
		os.Exit(1)
	}
}

// options say which bugs are tried, and how.
type options struct {
	only        string
	tries       int
	dir         string
	check       bool
	control     bool
	part, parts int
}

func run(ctx context.Context, o options) error {
	root, err := site.Root()
	if err != nil {
		return err
	}
	if o.dir == "" {
		if o.dir, err = os.MkdirTemp("", "porpoise-planted."); err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(o.dir) }()
	}
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return err
	}
	p := &planter{root: root, dir: o.dir, tries: o.tries, check: o.check}
	if !o.check {
		for _, program := range []string{"bench/chaos", "bench/verdict", "bench/etcd", "bench/chaos/witness"} {
			if _, err := site.Build(ctx, program, o.dir); err != nil {
				return err
			}
		}
	}
	chosen := o.choose(bugs())
	bad, controls := 0, map[string]bool{}
	for _, b := range chosen {
		if o.control && !controls[b.under.name] {
			controls[b.under.name] = true
			if err := p.hold(ctx, control(b.under, chosen)); err != nil {
				return err
			}
		}
		if !p.catch(ctx, b) {
			bad++
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	fmt.Printf("%d of %d planted bugs caught\n", len(chosen)-bad, len(chosen))
	if bad > 0 {
		return fmt.Errorf("%d planted bugs were not caught", bad)
	}
	return nil
}

// choose keeps the bugs that are to be tried.
func (o options) choose(all []bug) []bug {
	var chosen []bug
	for i, b := range all {
		wanted := func(text string) bool { return strings.Contains(b.name, text) || b.under.name == text }
		if slices.ContainsFunc(strings.Split(o.only, ","), wanted) && i%o.parts == o.part-1 {
			chosen = append(chosen, b)
		}
	}
	return chosen
}

// control is the run of a family with nothing planted: all shapes of its bugs.
func control(f family, chosen []bug) bug {
	var shapes []string
	for _, b := range chosen {
		if b.under.name != f.name {
			continue
		}
		for s := range strings.SplitSeq(b.shapes, ",") {
			if !slices.Contains(shapes, s) {
				shapes = append(shapes, s)
			}
		}
	}
	return bug{name: "nothing, " + f.name, under: f, shapes: strings.Join(shapes, ",")}
}

// hold runs a control, which must be good.
func (p *planter) hold(ctx context.Context, b bug) error {
	begin, tries := time.Now(), p.tries
	p.tries = 1
	flagged, err := p.try(ctx, b)
	p.tries = tries
	if err != nil {
		return fmt.Errorf("%s: %w", b.name, err)
	}
	if len(flagged) > 0 {
		return fmt.Errorf("%s: flagged by %s, see %s", b.name, strings.Join(flagged, " "), p.folder(b))
	}
	tell(b, begin, "good, as it must be")
	return nil
}

// catch tries one bug and says whether it was caught.
func (p *planter) catch(ctx context.Context, b bug) bool {
	begin := time.Now()
	caught, err := p.try(ctx, b)
	switch {
	case err != nil:
		tell(b, begin, "NOT TRIED: "+err.Error())
	case p.check:
		tell(b, begin, "can be planted")
	case len(caught) == 0:
		tell(b, begin, "SURVIVED")
	case !slices.Contains(caught, b.promise) && b.promise != "":
		tell(b, begin, "caught by "+strings.Join(caught, " ")+" (expected "+b.promise+")")
	default:
		tell(b, begin, "caught by "+strings.Join(caught, " "))
	}
	return err == nil && (p.check || len(caught) > 0)
}

func tell(b bug, begin time.Time, verdict string) {
	fmt.Printf("%-52s %6.1fs  %s\n", b.name, time.Since(begin).Seconds(), verdict)
}
