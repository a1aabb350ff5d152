package dolphin

import (
	"strconv"
	"strings"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/cron"
	"github.com/porpoise/porpoise/dag/listen"
	"github.com/porpoise/porpoise/dag/schedule"
)

// timing reads the schedule. Its failure strategy and its environment are the definition's here; the rest is a document
// of its own.
func (im *importer) timing(f *flow, m *mapping) *Schedule {
	o := f.schedule
	if len(o.fields) == 0 {
		return nil
	}
	n := &notes{}
	o.notes = n
	s := &Schedule{Enabled: o.text("releaseState") == "ONLINE", Spec: schedule.Spec{
		Cron: strings.Join(strings.Fields(o.text("crontab")), " "), Timezone: o.text("timezoneId"),
		Start: onTheClock(o.text("startTime")), End: onTheClock(o.text("endTime")), WorkerGroup: allowed(o.text("workerGroup")),
		// DolphinScheduler #12233: what was missed is made up for, all of it.
		Misfire: &schedule.Misfire{Policy: schedule.RunAll},
	}}
	n.add(codeSchedule, o.at)
	if e, err := cron.Parse(s.Spec.Cron, cron.Quartz); err != nil {
		n.add(codeScheduleCron, o.path("crontab"), err.Error())
	} else {
		s.Means = e.Words(cron.English)
	}
	if zone := s.Spec.Timezone; !isZone(zone) {
		n.add(codeScheduleZone, o.path("timezoneId"), shown(zone))
	}
	if o.word("failureStrategy", "CONTINUE", "CONTINUE", "END") == "END" {
		m.set(keyOnFailure, string(dag.OnFailureEnd))
		n.add(codeScheduleStrategy, o.path("failureStrategy"))
	}
	priority := either(o, "workflowInstancePriority", "processInstancePriority")
	if word := o.word(priority, "MEDIUM", "HIGHEST", "HIGH", "MEDIUM", "LOW", "LOWEST"); word != "MEDIUM" {
		s.Spec.Priority = strings.ToLower(word)
		n.add(codeTaskPriority, o.path(priority), word)
	}
	if word := o.word("warningType", "NONE", "NONE", "SUCCESS", "FAILURE", "ALL"); word != "NONE" {
		n.add(codeScheduleAlert, o.path("warningType"), f.listener(word))
	}
	if tenant := o.text("tenantCode"); tenant != "" && tenant != "default" {
		n.add(codeTenant, o.path("tenantCode"), tenant)
	}
	if code := o.number("environmentCode", -1); code > 0 {
		name := im.named("environment", code)
		if m.set(keyEnvironment, name); name == "" {
			n.add(codeEnvironmentName, o.path("environmentCode"), "its code is "+strconv.FormatInt(code, 10))
		} else {
			n.add(codeEnvironment, o.path("environmentCode"), name)
		}
	}
	o.drop("id", "processDefinitionCode", "workflowDefinitionCode", "processDefinitionName", "workflowDefinitionName", "projectName", "projectCode",
		"definitionDescription", "createTime", "updateTime", "userId", "userName", "warningGroupId", "environmentName")
	o.rest(codeUnknownField)
	s.Findings = n.list
	_, wrong := s.Spec.Compile(0, nil, 0)
	s.Fires = len(wrong) == 0
	return s
}

func isZone(name string) bool {
	_, err := time.LoadLocation(name)
	return err == nil && name != "" && name != "Local"
}

// onTheClock writes a moment of an export as documents have them: 2026-03-29T04:00:00.
func onTheClock(text string) string { return strings.Replace(text, " ", "T", 1) }

// listener is the command that tells whoever is to hear of the workflow what the alerts of there
// told: by its word, of ends that are successes, failures, or both.
func (f *flow) listener(word string) string {
	command := "porpoise listeners set PROJECT NAME --url URL --event " + string(listen.Ended) + " --workflow " + quote(f.name)
	if state := map[string]dag.InstanceState{"SUCCESS": dag.InstanceSuccess, "FAILURE": dag.InstanceFailed}[word]; state != "" {
		command += " --state " + string(state)
	}
	return command
}

// scheduleName is the name of the only schedule that a workflow can have there.
const scheduleName = "imported"

// ScheduleFile writes the schedules of the workflows as a file for "porpoise schedule apply"; nil where there are none. All are
// paused, as they would else fire both there and here. Those that can't be read are left out: the report says why.
func (r *Result) ScheduleFile() ([]byte, error) {
	var all list
	for i := range r.Workflows {
		w := &r.Workflows[i]
		if w.Schedule == nil || !w.Schedule.Fires {
			continue
		}
		all = append(all, append(mapping{{keyWorkflow, w.Name}, {keyName, scheduleName}, {keyEnabled, false}}, w.Schedule.mapping()...))
	}
	if len(all) == 0 {
		return nil, nil
	}
	return marshal(mapping{{keySchedules, all}})
}

// mapping is the schedule's document as it is kept here.
func (s *Schedule) mapping() mapping {
	d := &s.Spec
	m := mapping{{keyCron, d.Cron}}
	for _, e := range []entry{
		{keyTimezone, d.Timezone},
		{keyStart, d.Start},
		{keyEnd, d.End},
		{keyMisfire, mapping{{keyPolicy, string(d.Misfire.Policy)}}},
		{keyPriority, d.Priority},
		{keyWorkerGroup, d.WorkerGroup},
	} {
		m.set(e.key, e.value)
	}
	return m
}
