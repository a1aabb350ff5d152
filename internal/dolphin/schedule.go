package dolphin

import (
	"strings"
	"time"

	"github.com/porpoise/porpoise/dag"
)

// timing reads the schedule; its failure strategy is the only part that a definition has.
func (f *flow) timing(m *mapping) *Schedule {
	o := f.schedule
	if len(o.fields) == 0 {
		return nil
	}
	n := &notes{}
	o.notes = n
	s := &Schedule{
		Cron: strings.Join(strings.Fields(o.text("crontab")), " "), Timezone: o.text("timezoneId"),
		From: o.text("startTime"), To: o.text("endTime"), Enabled: o.text("releaseState") == "ONLINE",
		WorkerGroup: allowed(o.text("workerGroup")),
	}
	n.add(codeSchedule, o.at)
	if fields := len(strings.Fields(s.Cron)); fields != 6 && fields != 7 {
		n.add(codeScheduleCron, o.path("crontab"), shown(s.Cron))
	}
	if _, err := time.LoadLocation(s.Timezone); err != nil || s.Timezone == "" || s.Timezone == "Local" {
		n.add(codeScheduleZone, o.path("timezoneId"), shown(s.Timezone))
	}
	if o.word("failureStrategy", "CONTINUE", "CONTINUE", "END") == "END" {
		s.OnFailure = string(dag.OnFailureEnd)
		m.set(keyOnFailure, s.OnFailure)
		n.add(codeScheduleStrategy, o.path("failureStrategy"))
	}
	priority := either(o, "workflowInstancePriority", "processInstancePriority")
	if word := o.word(priority, "MEDIUM", "HIGHEST", "HIGH", "MEDIUM", "LOW", "LOWEST"); word != "MEDIUM" {
		s.Priority = strings.ToLower(word)
		n.add(codeTaskPriority, o.path(priority), word)
	}
	if word := o.word("warningType", "NONE", "NONE", "SUCCESS", "FAILURE", "ALL"); word != "NONE" {
		n.add(codeScheduleAlert, o.path("warningType"), word)
	}
	if tenant := o.text("tenantCode"); tenant != "" && tenant != "default" {
		n.add(codeTenant, o.path("tenantCode"), tenant)
	}
	if code := o.number("environmentCode", -1); code > 0 {
		n.add(codeEnvironmentName, o.path("environmentCode"))
	}
	o.drop("id", "processDefinitionCode", "workflowDefinitionCode", "processDefinitionName", "workflowDefinitionName", "projectName", "projectCode",
		"definitionDescription", "createTime", "updateTime", "userId", "userName", "warningGroupId", "environmentName")
	o.rest(codeUnknownField)
	s.Findings = n.list
	return s
}
