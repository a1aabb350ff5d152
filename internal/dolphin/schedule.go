package dolphin

import (
	"strconv"
	"strings"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/cron"
	"github.com/porpoise/porpoise/dag/listen"
)

// timing reads the schedule; its failure strategy is the only part that a definition has.
func (im *importer) timing(f *flow, m *mapping) *Schedule {
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
	if e, err := cron.Parse(s.Cron, cron.Quartz); err != nil {
		n.add(codeScheduleCron, o.path("crontab"), err.Error())
	} else {
		s.Means = e.Words(cron.English)
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
		n.add(codeScheduleAlert, o.path("warningType"), f.listener(word))
	}
	if tenant := o.text("tenantCode"); tenant != "" && tenant != "default" {
		n.add(codeTenant, o.path("tenantCode"), tenant)
	}
	if code := o.number("environmentCode", -1); code > 0 {
		if s.Environment = im.named("environment", code); s.Environment == "" {
			n.add(codeEnvironmentName, o.path("environmentCode"), "its code is "+strconv.FormatInt(code, 10))
		} else {
			n.add(codeEnvironment, o.path("environmentCode"), s.Environment)
		}
	}
	o.drop("id", "processDefinitionCode", "workflowDefinitionCode", "processDefinitionName", "workflowDefinitionName", "projectName", "projectCode",
		"definitionDescription", "createTime", "updateTime", "userId", "userName", "warningGroupId", "environmentName")
	o.rest(codeUnknownField)
	s.Findings = n.list
	return s
}

// listener is the command that tells whoever is to hear of the workflow what the alerts of there
// told: by its word, of ends that are successes, failures, or both.
func (f *flow) listener(word string) string {
	command := "porpoise listeners set PROJECT NAME --url URL --event " + string(listen.Ended) + " --workflow " + quote(f.name)
	if state := map[string]dag.InstanceState{"SUCCESS": dag.InstanceSuccess, "FAILURE": dag.InstanceFailed}[word]; state != "" {
		command += " --state " + string(state)
	}
	return command
}

// document writes a schedule in the words that it has here.
func (s *Schedule) document() ([]byte, error) {
	m := mapping{{keyCron, s.Cron}, {keyTimezone, s.Timezone}}
	for _, e := range []entry{
		{keyFrom, s.From},
		{keyTo, s.To},
		{keyPriority, s.Priority},
		{keyWorkerGroup, s.WorkerGroup},
		{keyEnvironment, s.Environment},
	} {
		m.set(e.key, e.value)
	}
	return marshal(append(m, entry{keyEnabled, s.Enabled}))
}
