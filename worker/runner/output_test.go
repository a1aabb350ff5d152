package runner

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestAHugeLineTakesNoMemoryAndKeepsHeadAndTail(t *testing.T) {
	t.Parallel()
	h := launch(t)
	const total = 1 << 30
	h.start(shell(1, "printf BEGIN; head -c "+strconv.Itoa(total-8)+" /dev/zero | tr '\\0' x; printf END"))
	e := h.exit("m1")
	if e.State != "success" || e.LogBytes != total || !bytes.HasSuffix(e.Tail, []byte("xEND")) || len(e.Tail) != 2048 {
		t.Fatalf("exit = %v %s, %d bytes of log", e.State, e.Message, e.LogBytes)
	}
	if peak := peakMiB(t, h.proc.Pid); peak > 100 {
		t.Errorf("the runner took %d MiB", peak)
	}
	kept := folderSize(filepath.Join(h.dir, "output"))
	if kept < 64<<20 || kept > 72<<20 {
		t.Errorf("kept %d MiB, want about 64", kept>>20)
	}
	if got := h.read(1, "stdout", 0); !bytes.HasPrefix(got.Data, []byte("BEGINxx")) || len(got.Data) != 256<<10 {
		t.Errorf("head = %.20q", got.Data)
	}
	// Read all as a client does: the hole is one marker line, the rest is there.
	var offset, read int64
	marks := 0
	for {
		got := h.read(1, "stdout", offset)
		if bytes.Contains(got.Data, []byte("bytes are left out here")) {
			marks++
		} else {
			read += int64(len(got.Data))
		}
		offset = got.Offset + int64(len(got.Data))
		if got.Eof {
			break
		}
	}
	if marks != 1 || offset != total || read < 64<<20 || read > 69<<20 {
		t.Errorf("read %d bytes up to %d with %d marks", read, offset, marks)
	}
	if got := h.read(1, "", -5); string(got.Data) != "xxEND" || !got.Eof {
		t.Errorf("tail = %q", got.Data)
	}
}

func peakMiB(t *testing.T, pid int) int {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "VmHWM:")
	kb, _ := strconv.Atoi(strings.Fields(rest)[0])
	return kb >> 10
}

func folderSize(dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(_ string, d os.DirEntry, _ error) error {
		if info, err := d.Info(); err == nil && !d.IsDir() {
			n += info.Size()
		}
		return nil
	})
	return n
}

func TestOutputIsKeptByteForByte(t *testing.T) {
	t.Parallel()
	h := launch(t)
	h.start(shell(1, `printf '\377\000\033[31m\r\n\200'`))
	if e := h.exit("m1"); string(e.Tail) != "\xff\x00\x1b[31m\r\n\x80" {
		t.Errorf("tail = %q", e.Tail)
	}
	if got := h.read(1, "", 0); string(got.Data) != "\xff\x00\x1b[31m\r\n\x80" {
		t.Errorf("output = %q", got.Data)
	}
}

func TestShortOutputsMakeNoFileEach(t *testing.T) {
	t.Parallel()
	h := launch(t)
	for n := int64(1); n <= 50; n++ {
		h.start(shell(n, "echo x"))
	}
	for ended := 0; ended < 50; {
		ended += len(h.next().Exits)
	}
	if big, _ := os.ReadDir(filepath.Join(h.dir, "output", "big")); len(big) != 0 {
		t.Errorf("%d folders were made", len(big))
	}
	if files, _ := os.ReadDir(filepath.Join(h.dir, "output")); len(files) != 2 {
		t.Errorf("files = %v, want one segment beside the folder of the big ones", files)
	}
}

func TestOutputIsReadableWhileTheTaskRuns(t *testing.T) {
	t.Parallel()
	h := launch(t)
	h.start(shell(1, "echo one; while [ ! -e "+pidFile(h, "go")+" ]; do sleep 0.01; done; echo two"))
	waitFor(t, "the first line", func() bool {
		got := h.read(1, "stdout", 0)
		return string(got.Data) == "one\n" && !got.Eof
	})
	_ = os.WriteFile(pidFile(h, "go"), nil, 0o600)
	h.exit("m1")
	if got := h.read(1, "stdout", 4); string(got.Data) != "two\n" || !got.Eof {
		t.Errorf("rest = %v", got)
	}
}

func TestOnlyDeclaredOutputsAreKept(t *testing.T) {
	t.Parallel()
	h := launch(t)
	s := shell(1, `echo '${setValue(a=1)} and #{setValue(b=x=y)}'
printf '${setVa'; sleep 0.05; printf 'lue(c=two\nlines)}\n'
echo '${setValue(secret=no)} ${setValue(a=2)} ${setValue(nothing)} $${setValue(d=dollar)}'
echo '${setValue(err=1)}' >&2
printf 'file=from file\r\nother=no\na_b=q"$;\n' >> "$PORPOISE_OUTPUT"`)
	s.Outputs = []string{"a", "b", "c", "d", "err", "file", "a_b", "nothing"}
	h.start(s)
	e := h.exit("m1")
	want := map[string]string{"a": "2", "b": "x=y", "c": "two\nlines", "d": "dollar", "file": "from file", "a_b": "q\"$;"}
	if e.State != "success" || fmt.Sprint(e.Outputs) != fmt.Sprint(want) {
		t.Errorf("outputs = %q, want %q (%s)", e.Outputs, want, e.Message)
	}
	if left, _ := os.ReadDir(filepath.Join(h.dir, "outputs")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestAnOutputThatIsTooLargeFailsTheAttempt(t *testing.T) {
	t.Parallel()
	h := launch(t)
	for i, script := range []string{
		`printf '${setValue(big='; head -c 102401 /dev/zero | tr '\0' x; echo ')}'`,
		`printf 'big=' >> $PORPOISE_OUTPUT; head -c 102401 /dev/zero | tr '\0' x >> $PORPOISE_OUTPUT`,
		`echo '${setValue(big='; seq 2000; echo ')}'`,
	} {
		s := shell(int64(i+1), script)
		s.Outputs = []string{"big"}
		h.start(s)
		if e := h.exit(s.Mark); e.State != "failed" || e.Reason != "output_too_large" || !strings.Contains(e.Message, `"big"`) {
			t.Errorf("%s: exit = %v", script, e)
		}
	}
	fits := shell(9, `printf '${setValue(big='; head -c 102400 /dev/zero | tr '\0' x; echo ')}'`)
	fits.Outputs = []string{"big"}
	h.start(fits)
	if e := h.exit("m9"); e.State != "success" || len(e.Outputs["big"]) != 102400 {
		t.Errorf("a value of 100 KiB: %s %s, %d bytes", e.State, e.Reason, len(e.Outputs["big"]))
	}
	text := shell(10, `printf '${setValue(big=\377)}'`)
	text.Outputs = []string{"big"}
	h.start(text)
	if e := h.exit("m10"); e.Reason != "output_not_text" {
		t.Errorf("a value that is not UTF-8: %v", e)
	}
}

func TestOutputsAreFoundHoweverTheyAreCut(t *testing.T) {
	t.Parallel()
	text := []byte("a$#${setValue(x=1)}#{setValue(y=)2)} {setValue(x=9)} ${setValue(x=3")
	text = append(text, []byte(")}${set")...)
	for cut := range text {
		o := newOutputs([]string{"x", "y"}, nil)
		o.scan(text[:cut])
		o.scan(text[cut:])
		if o.values["x"] != "3" || o.values["y"] != ")2" || o.err != nil {
			t.Fatalf("cut at %d: %v %v", cut, o.values, o.err)
		}
	}
}

func TestALongScriptIsHandedOverWithoutAFile(t *testing.T) {
	t.Parallel()
	h := launch(t)
	s := shell(1, "")
	s.Argv = []string{"/bin/sh", "/dev/fd/3"}
	s.Script = []byte("#" + strings.Repeat("x", 1<<20) + "\necho end $0\n")
	h.start(s)
	if e := h.exit("m1"); string(e.Tail) != "end /dev/fd/3\n" {
		t.Errorf("exit = %v", e)
	}
}

func TestWhatCannotBeStartedIsNamed(t *testing.T) {
	t.Parallel()
	h := launch(t)
	missing := shell(1, "true")
	missing.Argv[0] = "/no/such/program"
	folder := shell(2, "true")
	folder.Dir = "/no/such/folder"
	file := shell(3, "true")
	file.Dir = "/etc/passwd"
	long := shell(4, "true")
	long.Env = append(long.Env, "X="+strings.Repeat("x", 200<<10))
	none := shell(5, "true")
	none.Argv = nil
	want := map[string][2]string{
		"m1": {"no_interpreter", "/no/such/program"}, "m2": {"working_dir", "/no/such/folder"},
		"m3": {"working_dir", "/etc/passwd"}, "m4": {"exec_failed", "parameters"}, "m5": {"exec_failed", "program"},
	}
	for _, s := range []*Start{missing, folder, file, long, none} {
		h.start(s)
		e := h.exit(s.Mark)
		if w := want[s.Mark]; e.State != "failed" || e.Reason != w[0] || !strings.Contains(e.Message, w[1]) {
			t.Errorf("exit = %v, want %v", e, w)
		}
	}
}
