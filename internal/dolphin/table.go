package dolphin

// The codes of findings. Programs decide on them, people read the message.
const (
	codeWrongType    = "wrong_type"
	codeUnknownWord  = "unknown_word"
	codeUnknownField = "unknown_field"
	codeUnknownCode  = "unknown_code"
	codeMore         = "more"
	codeListCut      = "list_cut"

	codeName          = "name"
	codeNameChanged   = "name_changed"
	codeDescription   = "description"
	codeGlobalParam   = "global_param"
	codeGlobalOut     = "global_out_param"
	codeParamType     = "param_type"
	codeParamName     = "param_name"
	codeParamList     = "param_list"
	codeParamFile     = "param_file"
	codeParamRepeated = "param_repeated"
	codeParamChain    = "param_chain"
	codeTimeMoved     = "time_moved"
	codeReference     = "unknown_reference"
	codeBuiltin       = "builtin"
	codeExecution     = "execution_type"
	codeFlowTimeout   = "workflow_timeout"
	codeFlowFlag      = "workflow_flag"
	codeTenant        = "tenant"
	codeAlertGroup    = "alert_group"
	codeEdge          = "edge"
	codeEdgeUnknown   = "edge_unknown"
	codeEdgeCondition = "edge_condition"

	codeTaskDescription = "task_description"
	codeTaskDisabled    = "task_disabled"
	codeTaskCache       = "task_cache"
	codeTaskCacheNone   = "task_cache_type"
	codeTaskPriority    = "task_priority"
	codeWorkerGroup     = "worker_group"
	codeEnvironment     = "environment"
	codeEnvironmentName = "environment_unknown"
	codeRetry           = "retry"
	codeRetryBound      = "retry_bound"
	codeTaskTimeout     = "task_timeout"
	codeDelay           = "delay"
	codeTaskGroup       = "task_group"
	codeTaskGroupName   = "task_group_unknown"
	codeTaskGroupOrder  = "task_group_priority"
	codeQuota           = "quota"
	codeResources       = "resources"
	codeStream          = "stream"
	codeLocalParam      = "local_param"
	codeParamPassed     = "param_passed"
	codeOutput          = "output"
	codeWaitStart       = "wait_start_timeout"
	codeWaitDependent   = "wait_start_dependent"

	codeShell       = "shell"
	codePython      = "python"
	codeEmptyScript = "empty_script"
	codeRaw         = "raw"
	codeLineEnds    = "line_ends"
	codeSQL         = "sql"
	codeDatasource  = "datasource_unknown"
	codeSQLType     = "sql_type"
	codeSQLRaw      = "sql_raw"
	codeStatements  = "sql_statements"
	codeSQLMail     = "sql_mail"
	codeSQLExtra    = "sql_extra"
	codeProcedure   = "procedure"
	codeHTTP        = "http"
	codeHTTPParams  = "http_params"
	codeHTTPExpect  = "http_expect"
	codeHTTPTime    = "http_timeout"
	codeHTTPOut     = "http_response"

	codeSwitch        = "switch"
	codeExpression    = "expression"
	codeConditions    = "conditions"
	codeBranch        = "branch"
	codeBranchUnknown = "branch_unknown"
	codeJoin          = "join_after_branch"
	codeSub           = "sub_workflow"
	codeSubUnknown    = "sub_workflow_unknown"
	codeSubPassed     = "sub_workflow_passed"
	codeSubOutput     = "sub_workflow_output"
	codeSubParam      = "sub_workflow_param"
	codeSubGlobal     = "sub_workflow_global"
	codeItems         = "dynamic_items"
	codeItemsText     = "dynamic_items_text"
	codeItemsFilter   = "dynamic_filter"
	codeItemsMost     = "dynamic_most"
	codeItemDeclared  = "dynamic_param"
	codeParallel      = "dynamic_parallel"
	codeParallelBound = "dynamic_parallel_bound"
	codeDependent     = "dependent"
	codeDepProject    = "dependent_project_unknown"
	codeDepUnknown    = "dependent_unknown"
	codeDepDate       = "dependent_date"
	codeDepMonthEnd   = "dependent_month_end"
	codeDepAllTasks   = "dependent_all_tasks"
	codeDepOutput     = "dependent_output"
	codeDepParams     = "dependent_params"
	codeDepWait       = "dependent_failure_wait"
	codeNoType        = "no_task_type"

	codeSchedule         = "schedule"
	codeScheduleCron     = "schedule_cron"
	codeScheduleZone     = "schedule_timezone"
	codeScheduleStrategy = "schedule_failure_strategy"
	codeScheduleAlert    = "schedule_alert"
)

// Rule says what becomes of a field. From is the field there, To the key here.
type Rule struct {
	Code  string
	From  string
	Kind  Kind
	To    string
	About string // the sentence that a finding begins with
}

// rules are all codes. docs/IMPORT.md has the same table; a test compares the two.
var rules = []Rule{
	{codeWrongType, "any", Hand, "", "the value is of another type than expected and was left out"},
	{codeUnknownWord, "any", Hand, "", "the word is not known and the usual one was taken"},
	{codeUnknownField, "any", None, "", "the field is not known here and was left out"},
	{codeUnknownCode, "any", Hand, "", "the code names nothing in this export"},
	{codeListCut, "any", Hand, "", "the list is longer than anybody writes: only its first 1000 elements were read"},
	{codeMore, "any", Hand, "", "there is more to say than is listed here"},

	{codeName, "name", Mapped, "name", "the name is the same"},
	{codeNameChanged, "name", Changed, "name", "the name is not allowed or not unique here and was changed"},
	{codeDescription, "description", Mapped, "description", "the description is the same"},
	{codeGlobalParam, "globalParams", Mapped, "params", "a global parameter is a parameter of the workflow"},
	{codeGlobalOut, "globalParams (OUT)", Changed, "outputs", "what a workflow gives to one that runs it is listed there, under outputs of the task that runs it"},
	{codeParamType, "localParams.type, globalParams.type", Changed, "params", "the parameter came over as a text"},
	{codeParamName, "localParams.prop, globalParams.prop", Changed, "params", "the name is not one that a variable may have and was changed, also where it is used"},
	{codeParamList, "type LIST", Hand, "params", "the value is no JSON list of plain values and came over as one text: what uses it must split it"},
	{codeParamFile, "type FILE", None, "", "files are not passed between tasks"},
	{codeParamRepeated, "localParams, globalParams", Hand, "", "the parameter stands there twice; the last one was taken"},
	{codeParamChain, "params.value", Hand, "params", "the value refers to a parameter that may not be referred to here"},
	{codeTimeMoved, "$[...] outside parameters", Changed, "params", "a time expression became a parameter of the task, which is put in where it stood"},
	{codeReference, "${...}", Hand, "", "nothing in the export gives this name, perhaps a project parameter; it stays as a text"},
	{codeBuiltin, "${system...}", Hand, "", "there is no such built-in parameter here"},
	{codeExecution, "executionType", Mapped, "concurrency", "the execution type is a limit of one instance"},
	{codeFlowTimeout, "timeout of the workflow", Mapped, "timeout", "the workflow's timeout warns"},
	{codeFlowFlag, "flag of the workflow", Hand, "", "the workflow was switched off there; here it can be started"},
	{codeTenant, "tenantCode, tenantId", None, "", "there are no tenants: tasks run as the worker's user"},
	{codeAlertGroup, "warningGroupId", None, "", "alert groups do not come over"},
	{codeEdge, "processTaskRelationList", Mapped, "needs", "the edges are needs"},
	{codeEdgeUnknown, "processTaskRelationList", Hand, "", "the edge names a task that is not in the export and was left out"},
	{codeEdgeCondition, "conditionType, conditionParams", None, "", "an edge has no condition"},

	{codeTaskDescription, "description of a task", None, "", "tasks have no description"},
	{codeTaskDisabled, "flag NO", Mapped, "disabled", "a forbidden task is disabled: it is passed over and counts as done"},
	{codeTaskCache, "isCache", Changed, "cache", "what a success gave is taken again for a year; there it is until somebody clears it"},
	{codeTaskCacheNone, "isCache", None, "", "what a task of this type gives is not kept"},
	{codeTaskPriority, "taskPriority", Mapped, "priority", "the priority is the same"},
	{codeWorkerGroup, "workerGroup", Mapped, "worker_group", "the worker group is the same"},
	{codeEnvironment, "environmentCode", Mapped, "environment", "the environment has the given name"},
	{codeEnvironmentName, "environmentCode", Hand, "environment", "an export has no names of environments: give one, and make the environment here"},
	{codeRetry, "failRetryTimes, failRetryInterval", Mapped, "retry", "the retries are the same"},
	{codeRetryBound, "failRetryTimes, failRetryInterval", Changed, "retry", "the retries are over the limit here and were cut"},
	{codeTaskTimeout, "timeoutFlag, timeout, timeoutNotifyStrategy", Mapped, "timeout", "the timeout is the same"},
	{codeDelay, "delayTime", Mapped, "delay", "the delay is the same"},
	{codeTaskGroup, "taskGroupId", Mapped, "task_group", "the task group has the given name"},
	{codeTaskGroupName, "taskGroupId", Hand, "task_group", "an export has no names of task groups: give one, and make the task group here"},
	{codeTaskGroupOrder, "taskGroupPriority", None, "", "a task group goes by the task's priority"},
	{codeQuota, "cpuQuota, memoryMax", None, "", "there are no limits of CPU and memory per task"},
	{codeResources, "resourceList, resourceIds", Hand, "", "files of the resource centre are not in an export: put them where the worker finds them"},
	{codeStream, "taskExecuteType STREAM", None, "", "there are no stream tasks"},
	{codeLocalParam, "localParams (IN)", Mapped, "params", "a local parameter is a parameter of the task"},
	{codeParamPassed, "localParams (IN, empty)", Mapped, "", "an empty parameter takes what comes from above, as every task does here"},
	{codeOutput, "localParams (OUT)", Mapped, "outputs", "an OUT parameter is an output"},
	{codeWaitStart, "waitStartTimeout", Mapped, "queue_timeout", "the timeout counts while the task waits for a worker"},
	{codeWaitDependent, "waitStartTimeout of DEPENDENT", Hand, "timeout", "a dependency waits for no worker: give the task a timeout, which bounds its wait as a whole"},

	{codeShell, "SHELL: rawScript", Mapped, "type: shell, script, interpreter", "the script is the same and runs in bash, as there"},
	{codePython, "PYTHON: rawScript", Mapped, "type: python, script", "the script is the same"},
	{codeEmptyScript, "rawScript, empty", Changed, "type: noop", "the script is empty, so that the task does nothing"},
	{codeRaw, "rawScript", Changed, "raw", "the script counts on text that is replaced before it runs; better give it variables"},
	{codeLineEnds, "rawScript, sql", Mapped, "script", "line ends became those of Unix, as that product does before a run"},
	{codeSQL, "SQL: sql", Mapped, "type: sql, sql", "the statement is the same; ${name} is bound and not put in as text"},
	{codeDatasource, "datasource", Hand, "datasource", "an export has no names of datasources: give one, and make the datasource here"},
	{codeSQLType, "sqlType, type", Mapped, "", "whether it is a query, and of which database, is told by the statement and the datasource"},
	{codeSQLRaw, "!{name}", Hand, "raw", "!{name} puts text into the statement, which can change what it does: check where the value comes from"},
	{codeStatements, "preStatements, postStatements", Hand, "", "statements before and after were left out: write them into the statement or into tasks of their own"},
	{codeSQLMail, "sendEmail, title, groupId, showType, displayRows", None, "", "results are not sent by mail"},
	{codeSQLExtra, "udfs, connParams, limit, segmentSeparator", None, "", "the option of the SQL task has no equivalent"},
	{codeProcedure, "PROCEDURE: method", Hand, "type: sql, sql", "the call came over as a statement: check its form and its OUT parameters"},
	{codeHTTP, "HTTP: url, httpMethod, httpBody", Mapped, "type: http, url, method, body", "the call is the same"},
	{codeHTTPParams, "httpParams", Mapped, "url, headers, body", "parameters went into the address, headers and body"},
	{codeHTTPExpect, "httpCheckCondition, condition", Mapped, "expect", "the condition on the answer is the same"},
	{codeHTTPTime, "connectTimeout, socketTimeout", Mapped, "connect_timeout, timeout", "the timeouts are the same; that of the socket bounds the whole call"},
	{codeHTTPOut, "${task.response}", Mapped, "outputs: [response]", "the answer's body is an output, because something uses it"},

	{codeSwitch, "SWITCH: switchResult", Mapped, "type: switch, cases, else", "the first condition that holds chooses"},
	{codeExpression, "condition", Hand, "when", "the condition is no expression here"},
	{codeConditions, "CONDITIONS: dependence, conditionResult", Mapped, "type: conditions, cases, else", "the states of the tasks choose"},
	{codeBranch, "successNode, failedNode, nextNode", Mapped, "then, else", "the branch is the same"},
	{codeBranchUnknown, "successNode, failedNode, nextNode", Hand, "then, else", "the branch names a task that does not follow this one"},
	{codeJoin, "tasks where branches meet", Mapped, "needs", "branches of a choice meet here: the task runs when one of them did, as there"},
	{codeSub, "SUB_PROCESS, SUB_WORKFLOW, DYNAMIC: processDefinitionCode", Mapped, "workflow", "the workflow to run is named"},
	{codeSubPassed, "SUB_PROCESS, SUB_WORKFLOW, DYNAMIC: localParams (IN, empty)", Mapped, "params", "the value from above is passed to the sub-workflow"},
	{codeSubOutput, "SUB_PROCESS, SUB_WORKFLOW, DYNAMIC", Mapped, "outputs", "what the sub-workflow gives back is an output"},
	{codeSubParam, "SUB_PROCESS, SUB_WORKFLOW, DYNAMIC: localParams (IN)", Hand, "params", "the sub-workflow does not declare this parameter: add it to its params"},
	{codeSubGlobal, "SUB_PROCESS, SUB_WORKFLOW, DYNAMIC", Hand, "params", "the sub-workflow uses global parameters of this workflow, which it does not see here: declare them there and pass them on"},
	{codeSubUnknown, "SUB_PROCESS, SUB_WORKFLOW, DYNAMIC: processDefinitionCode", Hand, "workflow", "the sub-workflow is not in the export: give its name"},
	{codeItems, "DYNAMIC: listParameters", Mapped, "type: dynamic, over", "each piece of the text is an item, and the items of several lists are combined"},
	{codeItemsText, "DYNAMIC: listParameters (with ${name} or $[...])", Hand, "over", "the items are known only when the task runs: ${name} must hold a list such as [\"a\", \"b\"] here, and $[...] may stand in params alone"},
	{codeItemsFilter, "DYNAMIC: filterCondition", Mapped, "filter", "items that are listed there are left out"},
	{codeItemsMost, "DYNAMIC: maxNumOfSubWorkflowInstances", Hand, "over", "there may be more items than that: there the rest was left out, here each is run"},
	{codeItemDeclared, "DYNAMIC: listParameters", Changed, "params", "the workflow that is run declares the parameter now; there a start might give any"},
	{codeParallel, "DYNAMIC: degreeOfParallelism", Mapped, "parallel", "so many run at the same time"},
	{codeParallelBound, "DYNAMIC: degreeOfParallelism", Changed, "parallel", "the number is over the limit here and was cut"},
	{codeDependent, "DEPENDENT: dependence", Mapped, "type: dependent, check, interval, on_failure", "the dependency is the same"},
	{codeDepProject, "projectCode", Hand, "project", "an export has no names of projects: give one"},
	{codeDepUnknown, "definitionCode, depTaskCode", Hand, "workflow, task", "what is depended on is not in the export: give its name"},
	{codeDepDate, "dateValue", Hand, "date", "the date value is not known"},
	{codeDepMonthEnd, "dateValue thisMonthEnd", Changed, "date", "thisMonthEnd is the month's last day here; there it was its first"},
	{codeDepAllTasks, "depTaskCode -1", Changed, "workflow", "all tasks of a workflow are the workflow as a whole; runs of only some tasks do not count"},
	{codeDepOutput, "parameterPassing", Mapped, "outputs", "the outputs of what is depended on are passed on"},
	{codeDepParams, "parameterPassing", Hand, "outputs", "what is depended on is not in the export: list the outputs that it passes on"},
	{codeDepWait, "failurePolicy, failureWaitingTime", Hand, "on_failure", "a wait after a failure has no limit of its own here: give the task a timeout"},
	{codeNoType, "taskType", None, "type: shell", "the task type does not exist here: a script that fails stands in its place"},

	{codeSchedule, "schedule", Mapped, "a schedule", "the schedule is in the report, and comes over paused"},
	{codeScheduleCron, "crontab", Hand, "cron", "the cron expression is none of Quartz"},
	{codeScheduleZone, "timezoneId", Hand, "timezone", "the timezone is not known"},
	{codeScheduleStrategy, "failureStrategy", Mapped, "on_failure", "the failure strategy of the schedule is that of the workflow"},
	{codeScheduleAlert, "warningType", Hand, "a listener", "whoever is to be told is a listener of the project here; make one, such as"},
}

// Rules returns what becomes of each field, for the documents.
func Rules() []Rule { return append([]Rule(nil), rules...) }

// ruleOf returns the rule of a code.
func ruleOf(code string) Rule {
	for i := range rules {
		if rules[i].Code == code {
			return rules[i]
		}
	}
	panic("dolphin: the code " + code + " has no rule")
}
