package webhook_test

import (
	"os"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/dag/listen"
)

func TestTheDocumentHasTheSampleAndAllKinds(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/listeners.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "`v1="+documented+"`") {
		t.Errorf("docs/listeners.md has another signature than %s", documented)
	}
	for _, k := range listen.Kinds() {
		if !strings.Contains(string(text), "| `"+string(k)+"` |") {
			t.Errorf("docs/listeners.md does not explain %s", k)
		}
	}
}
