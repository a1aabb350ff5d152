package schedule_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
)

func TestACallFiresInPlaceOfMoments(t *testing.T) {
	t.Parallel()
	s := schedule.Spec{Webhook: &schedule.Webhook{Secret: "deploys", Params: map[string]string{"day": "release.day"}}, Timezone: "Europe/Berlin", Overlap: schedule.Wait}
	p, wrong := s.Compile(1, nil, time.Second)
	if len(wrong) > 0 {
		t.Fatalf("refused: %+v", wrong)
	}
	if fires, _ := p.Fires(0, 1<<40, 10); len(fires) > 0 || p.Late(0, 1<<40) || s.ByClock() {
		t.Errorf("moments are planned: %v, or a call of long ago is late", fires)
	}
}

func TestABodyGivesItsFieldsToParameters(t *testing.T) {
	t.Parallel()
	const body = `{"day": "2026-01-02", "n": 12345678901234567890, "on": true, "none": null, "list": [{"x": 1.50}, "<b>"], "deep": {"a": {"b": "c"}}, "": {"": "odd"}}`
	w := schedule.Webhook{Params: map[string]string{
		"day": "day", "n": "n", "on": "on", "none": "none", "absent": "absent", "x": "list.0.x", "b": "list.1", "c": "deep.a.b",
		"whole": "deep", "list": "list", "beyond": "list.2", "minus": "list.-1", "under": "day.x", "word": "list.x",
	}}
	want := map[string]string{
		"day": "2026-01-02", "n": "12345678901234567890", "on": "true", "x": "1.50", "b": "<b>", "c": "c", "whole": `{"a":{"b":"c"}}`, "list": `[{"x":1.50},"<b>"]`,
	}
	if got, err := w.Given([]byte(body)); err != nil || !maps.Equal(got, want) {
		t.Errorf("given are %q, %v; want %q", got, err, want)
	}
	if got, err := w.Given([]byte(`[1]`)); err != nil || len(got) > 0 {
		t.Errorf("a list gives %q, %v", got, err)
	}
	for _, bad := range []string{"", "{", "x"} {
		if got, err := w.Given([]byte(bad)); err == nil {
			t.Errorf("%q gives %q", bad, got)
		}
	}
}

func TestABadWebhookNamesAllThatIsWrong(t *testing.T) {
	t.Parallel()
	hook := func(secret string, params map[string]string) schedule.Spec {
		return schedule.Spec{Webhook: &schedule.Webhook{Secret: secret, Params: params}}
	}
	all := hook("s", nil)
	all.Cron, all.At, all.After, all.Jitter, all.Misfire = "x", []string{"x"}, &schedule.After{Workflow: "w"}, "1m", &schedule.Misfire{}
	for _, c := range []struct {
		spec schedule.Spec
		want string
	}{
		{hook("", nil), "webhook.secret required"},
		{hook("my secret", nil), "webhook.secret invalid_name"},
		{hook("s", map[string]string{"a": "", "b": "x..y", "c": strings.Repeat("x.", 40) + "x"}), "webhook.params.a invalid, webhook.params.b invalid, webhook.params.c too_large"},
		{all, "after conflict, cron conflict, at conflict, jitter conflict, misfire conflict"},
	} {
		p, wrong := c.spec.Compile(1, nil, time.Second)
		var got []string
		for _, w := range wrong {
			got = append(got, w.Field+" "+w.Code)
		}
		if s := strings.Join(got, ", "); s != c.want || p != nil {
			t.Errorf("%+v: %s, want %s", c.spec.Webhook, s, c.want)
		}
	}
}

func FuzzBody(f *testing.F) {
	for _, seed := range []string{`{"a": {"b": [1, "x"]}}`, `[]`, `{"a": null}`, `{"a": 1e400}`} {
		f.Add(seed, "a.b.0")
	}
	f.Fuzz(func(t *testing.T, body, path string) {
		spec := schedule.Spec{Webhook: &schedule.Webhook{Secret: "s", Params: map[string]string{"p": path}}}
		if _, wrong := spec.Compile(1, nil, 0); len(wrong) > 0 {
			return
		}
		given, err := spec.Webhook.Given([]byte(body))
		if _, ok := given["p"]; err != nil && ok {
			t.Errorf("%q gives %q and %v", body, given, err)
		}
		_ = dag.CheckSecretName("s", path)
	})
}
