package cron_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/dag/cron"
)

func parse(t testing.TB, text string, d cron.Dialect) cron.Expression {
	t.Helper()
	e, err := cron.Parse(text, d)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestTheDialectIsThatOfTheNumberOfFields(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text   string
		given  cron.Dialect
		want   cron.Dialect
		fields int
	}{
		{"0 12 * * 1", cron.Auto, cron.Unix, 5},
		{"0 0 12 ? * 1", cron.Auto, cron.Quartz, 6},
		{"0 0 12 ? * 1 2027", cron.Auto, cron.Quartz, 7},
		{"0 0 12 ? * 1", cron.Unix, cron.Unix, 6},
		{"0 0 12 ? * 1", cron.Quartz, cron.Quartz, 6},
		{"@daily", cron.Auto, cron.Unix, 0},
		{"@daily", cron.Quartz, cron.Quartz, 0},
		{"@every 90s", cron.Auto, cron.Unix, 0},
	} {
		if e := parse(t, tt.text, tt.given); e.Dialect() != tt.want || e.Fields() != tt.fields || e.String() != tt.text {
			t.Errorf("Parse(%q, %q) is %q: %s of %d fields, want %s of %d", tt.text, tt.given, e, e.Dialect(), e.Fields(), tt.want, tt.fields)
		}
	}
}

func TestMistakesAreToldWithTheirPlaceAndWhatIsAllowed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text    string
		dialect cron.Dialect
		column  int
		field   string
		code    string
		message string
	}{
		{"61 * * * *", "", 1, "minute", "out_of_range", "minute 61 is not in 0-59"},
		{"  61 * * * *", "", 3, "minute", "out_of_range", "minute 61 is not in 0-59"},
		{"0 24 * * *", "", 3, "hour", "out_of_range", "hour 24 is not in 0-23"},
		{"0 0 0 * *", "", 5, "day of month", "out_of_range", "day of month 0 is not in 1-31"},
		{"0 0 1,2,32 * *", "", 9, "day of month", "out_of_range", "day of month 32 is not in 1-31"},
		{"0 0 1 13 *", "", 7, "month", "out_of_range", "month 13 is not in 1-12"},
		{"0 0 * * 8", "", 9, "day of week", "out_of_range", "day of week 8 is not in 0-7"},
		{"0 0 0 ? * 0", "", 11, "day of week", "out_of_range", "day of week 0 is not in 1-7; Quartz counts from 1, Sunday"},
		{"60 0 0 * * ?", "", 1, "second", "out_of_range", "second 60 is not in 0-59"},
		{"0 0 0 * * ? 1969", "", 13, "year", "out_of_range", "year 1969 is not in 1970-2099"},
		{"0 0 0 * * ? 2030-2027", "", 13, "year", "invalid", "ends before it begins"},
		{"0 0 * * MOM", "", 9, "day of week", "invalid", `day of week "MOM" is not a number in 0-7 or a name in SUN-SAT; did you mean MON?`},
		{"0 0 * * mon-fry", "", 13, "day of week", "invalid", "did you mean FRI?"},
		{"0 0 * * MONDAY", "", 9, "day of week", "invalid", "did you mean MON?"},
		{"0 0 * june *", "", 7, "month", "invalid", "did you mean JUN?"},
		{"x * * * *", "", 1, "minute", "invalid", `minute "x" is not a number in 0-59`},
		{"1- * * * *", "", 3, "minute", "invalid", "minute wants a number in 0-59 here"},
		{"-1 * * * *", "", 1, "minute", "invalid", "minute wants a number in 0-59 here"},
		{"1,,2 * * * *", "", 3, "minute", "invalid", "minute has a list with an empty element"},
		{"*/0 * * * *", "", 3, "minute", "out_of_range", "the step 0 of minute is not in 1-59"},
		{"*/90 * * * *", "", 3, "minute", "out_of_range", "for a longer cycle write @every 90m"},
		{"0 */24 * * *", "", 5, "hour", "out_of_range", "for a longer cycle write @every 24h"},
		{"*/x * * * *", "", 3, "minute", "invalid", "the step of minute wants a number in 1-59 after the /"},
		{"*/ * * * *", "", 3, "minute", "invalid", "the step of minute wants a number"},
		{"1/2/3 * * * *", "", 3, "minute", "invalid", "the step of minute wants a number"},
		{"? * * * *", "", 1, "minute", "invalid", "only the day fields can"},
		{"0 0 ?,1 * *", "", 5, "day of month", "invalid", "? cannot stand in a list"},
		{"0 0 0 ? * ?", "", 11, "day of week", "invalid", "only one of day of month and day of week may be ?"},
		{"0 0 0 1 * MON", "", 11, "day of week", "invalid", "day of month and day of week are both set"},
		{"0 0 0 */2 * MON", "", 13, "day of week", "invalid", "day of month and day of week are both set"},
		{"0 0 * * L", "", 9, "day of week", "invalid", "write SAT, or SATL"},
		{"0 0 * * FRI#6", "", 13, "day of week", "out_of_range", "the number after # wants a number in 1-5"},
		{"0 0 * * FRI#", "", 13, "day of week", "invalid", "the number after # wants a number in 1-5"},
		{"0 0 * * 9#1", "", 9, "day of week", "out_of_range", "day of week 9 is not in 0-7"},
		{"0 0 L-31 * *", "", 7, "day of month", "out_of_range", "the days before the last wants a number in 1-30"},
		{"0 0 32W * *", "", 5, "day of month", "out_of_range", "the day before W wants a number in 1-31"},
		{"0 0 1-5W * *", "", 5, "day of month", "invalid", "the day before W wants a number in 1-31"},
		{"0 0 W * *", "", 5, "day of month", "invalid", `day of month "W" is not a number`},
		{"0 0 30 2 *", "", 5, "day of month", cron.CodeNeverFires, "it would never fire"},
		{"0 0 31 4,6,9,11 *", "", 5, "day of month", cron.CodeNeverFires, "it would never fire"},
		{"0 0 0 29 2 ? 2025-2027", "", 7, "day of month", cron.CodeNeverFires, "it would never fire"},
		{"0 0 0 ? 2 MON#5 2025", "", 11, "day of week", cron.CodeNeverFires, "it would never fire"},
		{"0 0 L-30 2 *", "", 5, "day of month", cron.CodeNeverFires, "it would never fire"},
		{"", "", 1, "", "required", "the expression is empty: want 5 (Unix"},
		{" \t ", "", 1, "", "required", "the expression is empty"},
		{"1 2 3", "", 1, "", "invalid", "the expression has 3 fields, want 5 (Unix"},
		{"12:30", "", 1, "", "invalid", "the expression has 1 field, want 5 (Unix"},
		{"1 2 3 4 5 6 7 8", "", 1, "", "invalid", "the expression has 8 fields"},
		{"0 12 * * ?", cron.Quartz, 1, "", "invalid", "the quartz expression has 5 fields, want 6 (second"},
		{"0 0 12 * * ? 2027", cron.Unix, 1, "", "invalid", "the unix expression has 7 fields, want 5 (minute"},
		{"0 12 * * *", "vixie", 1, "", "not_in_enum", `there is no dialect "vixie": want unix or quartz`},
		{"@dayly", "", 1, "", "invalid", "did you mean @daily?"},
		{"@reboot", "", 1, "", "invalid", `there is no "@reboot": want one of @yearly`},
		{"@daily 5", "", 8, "", "invalid", "nothing may follow @daily"},
		{"@every", "", 7, "", "invalid", "want a duration such as 90s"},
		{"@every 1.5h", "", 8, "", "invalid", "want a duration such as 90s"},
		{"@every 500ms", "", 8, "", "out_of_range", "is not a number of whole seconds in 1s-3660d"},
		{"@every 0", "", 8, "", "out_of_range", "is not a number of whole seconds"},
		{"@every 9999999d", "", 8, "", "out_of_range", "is not a number of whole seconds"},
		{"TZ=Europe/Berlin 0 12 * * *", "", 1, "", "invalid", "the timezone does not belong into the expression"},
		{strings.Repeat("0,", 60) + "0 * * * *", "", 121, "minute", "too_large", "a list of 61 elements, at most 60 are allowed"},
		{strings.Repeat("0 ", 300), "", 513, "", "too_large", "the expression has 600 bytes, at most 512 are allowed"},
	} {
		_, err := cron.Parse(tt.text, tt.dialect)
		wrong, ok := errors.AsType[*cron.Errors](err)
		if !ok || len(wrong.List) != 1 {
			t.Errorf("Parse(%q) = %v, want one mistake", tt.text, err)
			continue
		}
		got := wrong.List[0]
		if got.Column != tt.column || got.Field != tt.field || got.Code != tt.code || !strings.Contains(got.Message, tt.message) {
			t.Errorf("Parse(%q) = column %d, %q, %s, %q; want column %d, %q, %s, %q",
				tt.text, got.Column, got.Field, got.Code, got.Message, tt.column, tt.field, tt.code, tt.message)
		}
	}
}

func TestAllMistakesAreToldAtOnce(t *testing.T) {
	t.Parallel()
	_, err := cron.Parse("61 25 0,1,32 * MOM", cron.Auto)
	want := `cron "61 25 0,1,32 * MOM": column 1: minute 61 is not in 0-59; column 4: hour 25 is not in 0-23; ` +
		`column 7: day of month 0 is not in 1-31; column 11: day of month 32 is not in 1-31; ` +
		`column 16: day of week "MOM" is not a number in 0-7 or a name in SUN-SAT; did you mean MON?`
	if err == nil || err.Error() != want {
		t.Errorf("Parse = %v, want %s", err, want)
	}
	_, err = cron.Parse(strings.Repeat("99,", 59)+"99 * * * *", cron.Auto)
	if wrong, ok := errors.AsType[*cron.Errors](err); !ok || len(wrong.List) != 20 {
		t.Errorf("60 mistakes are told as %v, want the first 20", err)
	}
}
