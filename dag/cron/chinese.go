package cron

import (
	"fmt"
	"strings"
)

// chinese is the voice of Simplified Chinese.
type chinese struct{}

func (chinese) every(length, anchor string) string {
	return "每隔 " + length + "，自 " + anchor + " 起算"
}

func (v chinese) times(list []string) string { return v.list(list) }

func (v chinese) cycle(c cycle) string {
	one := func(values []int, unit string) string {
		return v.list(numbers(values, "%d", v.span)) + unit
	}
	zero := len(c.seconds) == 1 && c.seconds[0] == 0
	hours := ""
	if c.eachHour != 1 {
		hours = one(c.hours, "时") + "内"
	}
	if zero && len(c.minutes) == 1 {
		from, to := clockText(c.hours[0], c.minutes[0], 0), clockText(c.hours[len(c.hours)-1], c.minutes[0], 0)
		switch {
		case c.eachHour == 1 && c.minutes[0] == 0:
			return "每小时整点"
		case c.eachHour == 1:
			return "每小时的" + one(c.minutes, "分")
		case c.eachHour > 1:
			return fmt.Sprintf("从 %s 起每 %d 小时", from, c.eachHour)
		case len(c.hours) == c.hours[len(c.hours)-1]-c.hours[0]+1:
			return from + " 至 " + to + " 每小时"
		}
		return hours + "的" + one(c.minutes, "分")
	}
	minutes := ""
	switch {
	case zero && c.eachMinute == 1:
		return hours + "每分钟"
	case zero && c.eachMinute > 1:
		return hours + fmt.Sprintf("每 %d 分钟", c.eachMinute)
	case zero && hours == "":
		return "每小时的" + one(c.minutes, "分")
	case zero:
		return hours + "的" + one(c.minutes, "分")
	case c.eachMinute != 1:
		minutes = one(c.minutes, "分") + "内"
		if hours == "" {
			hours = "每小时的"
		}
	}
	switch {
	case c.eachSecond == 1:
		return hours + minutes + "每秒"
	case c.eachSecond > 1:
		return hours + minutes + fmt.Sprintf("每 %d 秒", c.eachSecond)
	case minutes == "":
		minutes = "每分钟"
	}
	return hours + minutes + "的" + one(c.seconds, "秒")
}

func (v chinese) days(ofMonth []int) string { return v.list(numbers(ofMonth, "%d日", v.span)) }

func (chinese) span(from, to string) string { return from + "至" + to }

func (chinese) fromEnd(n int) string {
	if n == 0 {
		return "最后一天"
	}
	return fmt.Sprintf("最后一天的前 %d 天", n)
}

func (chinese) near(n int) string { return fmt.Sprintf("离%d日最近的工作日", n) }

func (v chinese) nearEnd(n int) string {
	if n == 0 {
		return "最后一个工作日"
	}
	return "离" + v.fromEnd(n) + "最近的工作日"
}

func (chinese) weekday(n int) string {
	return "周" + [...]string{"日", "一", "二", "三", "四", "五", "六"}[n%7]
}

func (chinese) month(n int) string { return fmt.Sprintf("%d月", n) }

func (v chinese) nth(n, weekday int) string {
	return [...]string{"最后一个", "第一个", "第二个", "第三个", "第四个", "第五个"}[n] + v.weekday(weekday)
}

func (chinese) list(items []string) string { return strings.Join(items, "、") }

func (v chinese) whole(c clockShape, d dayShape) string {
	of := "每月的"
	if d.months != "" {
		of = d.months + "的"
	}
	ofMonth, ofWeek := d.ofMonth, d.ofWeek
	if ofMonth != "" {
		ofMonth = of + ofMonth
	}
	if ofWeek != "" {
		if d.plainWeek && d.months == "" {
			ofWeek = "每" + ofWeek
		} else {
			ofWeek = of + ofWeek
		}
	}
	days := ""
	switch {
	case ofMonth != "" && ofWeek != "" && d.either:
		days = ofMonth + "，以及" + ofWeek
	case ofMonth != "" && ofWeek != "":
		days = ofMonth + "，且须逢" + d.ofWeek
	case ofMonth != "" || ofWeek != "":
		days = ofMonth + ofWeek
	case d.months != "":
		days = d.months + "的每天"
	case !c.periodic:
		days = "每天"
	}
	years := d.years
	if years != "" {
		years += "年"
	}
	return joined(" ", years, days, c.text)
}
