package cron_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag/cron"
)

func TestWordsSayWhatFires(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, english, chinese string }{
		{"* * * * *", "every minute", "每分钟"},
		{"*/15 * * * *", "every 15 minutes", "每 15 分钟"},
		{"*/7 * * * *", "at minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56 of every hour", "每小时的0、7、14、21、28、35、42、49、56分"},
		{"@hourly", "every hour", "每小时整点"},
		{"5 * * * *", "every hour at minute 5", "每小时的5分"},
		{"30 */2 * * *", "every 2 hours from 00:30", "从 00:30 起每 2 小时"},
		{"30 2 * * *", "at 02:30 every day", "每天 02:30"},
		{"0,30 9-10 * * *", "at 09:00, 09:30, 10:00 and 10:30 every day", "每天 09:00、09:30、10:00、10:30"},
		{"15 30 2 * * ?", "at 02:30:15 every day", "每天 02:30:15"},
		{"*/15 9-17 * * MON-FRI", "every 15 minutes in the hours 09 to 17 on Monday to Friday", "每周一至周五 9至17时内每 15 分钟"},
		{"0 9-17 * * *", "every hour from 09:00 to 17:00", "09:00 至 17:00 每小时"},
		{"5,10 1-10 * * *", "at minutes 5 and 10 in the hours 01 to 10", "1至10时内的5、10分"},
		{"*/10 * * * * ?", "every 10 seconds", "每 10 秒"},
		{"* * 3 * * ?", "every second in the hour 03", "3时内每秒"},
		{"0/5 30 9 * * ?", "every 5 seconds in minute 30 in the hour 09", "9时内30分内每 5 秒"},
		{"15 * * * * ?", "at second 15 of every minute", "每分钟的15秒"},
		{"0 0 1 * *", "at 00:00 on day 1 of the month", "每月的1日 00:00"},
		{"0 0 0 1,15,L * ?", "at 00:00 on days 1 and 15 and the last day of the month", "每月的1日、15日、最后一天 00:00"},
		{"0 0 0 L-3 * ?", "at 00:00 on the day 3 days before the last of the month", "每月的最后一天的前 3 天 00:00"},
		{"0 0 0 LW * ?", "at 00:00 on the last working day of the month", "每月的最后一个工作日 00:00"},
		{"0 0 0 L-1W * ?", "at 00:00 on the working day nearest to the day before the last of the month", "每月的离最后一天的前 1 天最近的工作日 00:00"},
		{"0 0 0 15W * ?", "at 00:00 on the working day nearest to day 15 of the month", "每月的离15日最近的工作日 00:00"},
		{"0 0 12 ? * 6#3", "at 12:00 on the third Friday of the month", "每月的第三个周五 12:00"},
		{"0 0 12 ? * 6L", "at 12:00 on the last Friday of the month", "每月的最后一个周五 12:00"},
		{"0 0 * * 0", "at 00:00 on Sunday", "每周日 00:00"},
		{"0 0 * * SAT-MON", "at 00:00 on Monday, Saturday and Sunday", "每周一、周六、周日 00:00"},
		{"0 0 13 * FRI", "at 00:00 on day 13 of the month, and also on Friday", "每月的13日，以及每周五 00:00"},
		{"0 0 */10 * MON", "at 00:00 on days 1, 11, 21 and 31 of the month, but only if that is Monday", "每月的1日、11日、21日、31日，且须逢周一 00:00"},
		{"0 0 1-31 * FRI", "at 00:00 every day", "每天 00:00"},
		{"0 0 1 1,6-8 *", "at 00:00 on day 1 of the month, in January and June to August", "1月、6月至8月的1日 00:00"},
		{"0 0 12 ? JAN MON 2027-2030", "at 12:00 on Monday, in January, in 2027 to 2030", "2027至2030年 1月的周一 12:00"},
		{"@every 90s", "every 1m30s, counted from 1970-01-01T00:00:00Z", "每隔 1m30s，自 1970-01-01T00:00:00Z 起算"},
	} {
		e := parse(t, tt.text, cron.Auto)
		if got := e.Words(cron.English); got != tt.english {
			t.Errorf("%q is %q, want %q", tt.text, got, tt.english)
		}
		if got := e.Words(cron.Chinese); got != tt.chinese {
			t.Errorf("%q is %q, want %q", tt.text, got, tt.chinese)
		}
	}
}

// TestTheSameWordsAreTheSameFires: words that left something out would be shared by
// expressions that differ in it.
func TestTheSameWordsAreTheSameFires(t *testing.T) {
	t.Parallel()
	random := seeded(t)
	type seen struct{ text, fires string }
	said := map[string]seen{}
	shared := 0
	for range 4000 {
		ofMonth := random.of("*", "*", "1", "1-31", "*/2", "*/10", "1,11,21,31", "L", "LW", "15W", "L-1", "L-1W", "15", "1-3", "1,2,3")
		ofWeek := random.of("*", "*", "MON", "1-5", "MON-FRI", "0-6", "7", "0", "FRIL", "5L", "FRI#3", "MON#1,FRI#3", "SUN#5", "*/2")
		text := strings.Join([]string{
			random.of("0", "0", "*", "*/15", "0/15", "0,30"),
			random.of("0", "0", "*", "*/15", "0,15,30,45", "5", "*/7", "1-3", "0-59", "1,2,3", "30/30"),
			random.of("0", "*", "*/2", "0-23", "1/2", "9", "9-17", "9,10", "9-10", "*/12", "22-3"),
			ofMonth, random.of("*", "*", "*", "1", "1-3", "JAN,2,3", "1/6", "*/6"), ofWeek,
		}, " ")
		e, err := cron.Parse(text, cron.Unix)
		if err != nil {
			t.Fatal(err)
		}
		var fires strings.Builder
		at := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
		for i := range 150 {
			next, _ := e.Next(at.AddDate(0, 0, 11*i).Add(time.Duration(7*i)*time.Minute), time.UTC)
			fmt.Fprintln(&fires, next.Unix())
			next, _ = e.Next(next, time.UTC)
			fmt.Fprintln(&fires, next.Unix())
		}
		for _, l := range []cron.Language{cron.English, cron.Chinese} {
			words := e.Words(l)
			if strings.Contains(words, "  ") || strings.TrimSpace(words) != words || words == "" {
				t.Errorf("%q is put as %q", text, words)
			}
			before, ok := said[words]
			if ok && before.text != text {
				shared++
			}
			if ok && before.fires != fires.String() {
				t.Fatalf("%q and %q are both %q", before.text, text, words)
			}
			said[words] = seen{text, fires.String()}
		}
	}
	if shared < 20 {
		t.Errorf("only %d expressions share their words: the test is out of date", shared)
	}
}

func TestFiresAreMarkedWhereClocksChange(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, zone, after, want string }{
		{"30 2 * * *", "Europe/Berlin", "2026-03-28T00:00:00Z", "2026-03-28T02:30:00+01:00, 2026-03-29T03:00:00+02:00 gap 02:30:00, 2026-03-30T02:30:00+02:00"},
		{"0 3 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T03:00:00+02:00, 2026-03-30T03:00:00+02:00, 2026-03-31T03:00:00+02:00"},
		{"30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-25T02:30:00+02:00 repeated, 2026-10-26T02:30:00+01:00, 2026-10-27T02:30:00+01:00"},
		{"0 * * * *", "Europe/Berlin", "2026-10-24T23:30:00Z", "2026-10-25T02:00:00+02:00 repeated, 2026-10-25T02:00:00+01:00 repeated, 2026-10-25T03:00:00+01:00"},
		{"@every 1h", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-25T02:00:00+01:00 repeated, 2026-10-25T03:00:00+01:00, 2026-10-25T04:00:00+01:00"},
		{"0 0 0 1 1 ? 2027", "UTC", "2026-10-25T00:30:00Z", "2027-01-01T00:00:00Z"},
	} {
		after, err := time.Parse(time.RFC3339, tt.after)
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, f := range parse(t, tt.text, cron.Auto).Fires(after, zone(t, tt.zone), 3) {
			list = append(list, strings.TrimRight(fmt.Sprintf("%s %s %s", f.At.Format(time.RFC3339), f.Mark, f.LeftOut), " "))
		}
		if got := strings.Join(list, ", "); got != tt.want {
			t.Errorf("%q after %s: %s, want %s", tt.text, tt.after, got, tt.want)
		}
	}
}

func TestShortestIsTheLeastTimeBetweenFires(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		want time.Duration
	}{
		{"* * * * * ?", time.Second},
		{"* * * * *", time.Minute},
		{"*/7 * * * *", 4 * time.Minute},
		{"59,0 9-10 * * *", time.Minute},
		{"0 0,23 * * *", time.Hour},
		{"0 0,23 * * MON", 23 * time.Hour},
		{"0 12 * * *", 24 * time.Hour},
		{"0 0 1 * *", 28 * 24 * time.Hour},
		{"0 0 29 2 *", (3*365 + 366) * 24 * time.Hour},
		{"50,10 30 2 * * ?", 40 * time.Second},
		{"@every 90s", 90 * time.Second},
		{"0 0 0 1 1 ? 2027", 0},
		{"0 0 0,6 1 1 ? 2027", 6 * time.Hour},
		{"0 0 0 1 1 ? 2027,2029", 731 * 24 * time.Hour},
	} {
		if got, ok := parse(t, tt.text, cron.Auto).Shortest(); got != tt.want || ok != (tt.want > 0) {
			t.Errorf("Shortest(%q) = %v, %v, want %v", tt.text, got, ok, tt.want)
		}
	}
}
