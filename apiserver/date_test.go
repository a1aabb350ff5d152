package apiserver

import "testing"

func TestDatesAreReckonedInTheirZone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	// A Monday; in Berlin the clocks were set forward on the day before.
	got := decode[DateList](t, b.must(200, "GET", "/api/v1/dates?at=2026-03-30T01:00:00Z&timezone=Europe/Berlin", ""))
	values := map[string]DateValue{}
	for _, v := range got.Items {
		values[v.Name] = v
	}
	if len(values) != 25 || got.Timezone != "Europe/Berlin" {
		t.Fatalf("%d dates in %s", len(values), got.Timezone)
	}
	if last := values["last1Days"]; len(last.Intervals) != 1 || last.Intervals[0] != (DateInterval{"2026-03-29T00:00:00+01:00", "2026-03-30T00:00:00+02:00"}) || last.Cycle != "day" {
		t.Errorf("the day before = %+v", last)
	}
	if week := values["lastWeek"]; len(week.Intervals) != 7 || week.Intervals[0].From != "2026-03-23T00:00:00+01:00" {
		t.Errorf("the week before = %+v", week)
	}
	for field, path := range map[string]string{"timezone": "?timezone=Mars", "at": "?at=noon"} {
		if p := decode[Problem](t, b.must(400, "GET", "/api/v1/dates"+path, "")); p.Errors[0].Field != field {
			t.Errorf("%s: %+v", path, p.Errors)
		}
	}
	b.must(400, "GET", "/api/v1/dates?at=2300-01-01T00:00:00Z", "")
}
