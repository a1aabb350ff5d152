package dolphin

// The keys and words of a definition that an import writes. Each spelling stands here once.
const (
	keyName        = "name"
	keyDescription = "description"
	keyParams      = "params"
	keyTimeout     = "timeout"
	keyOnFailure   = "on_failure"
	keyConcurrency = "concurrency"
	keyTasks       = "tasks"

	keyType        = "type"
	keyNeeds       = "needs"
	keyOutputs     = "outputs"
	keyEnvironment = "environment"
	keyWorkerGroup = "worker_group"
	keyTaskGroup   = "task_group"
	keyPriority    = "priority"
	keyRetry       = "retry"
	keyDelay       = "delay"
	keyCache       = "cache"
	keyMaxAge      = "max_age"
	keyQueueTime   = "queue_timeout"
	keyDisabled    = "disabled"
	keyRaw         = "raw"

	keyAfter    = "after" // of timeout
	keyAction   = "action"
	keyTimes    = "times" // of retry
	keyLimit    = "limit" // of concurrency
	keyWhenFull = "when_full"

	keyScript      = "script"
	keyInterpreter = "interpreter"

	keyDatasource = "datasource"
	keySQL        = "sql"

	keyURL             = "url"
	keyMethod          = "method"
	keyHeaders         = "headers"
	keyBody            = "body"
	keyExpect          = "expect"
	keyStatus          = "status"
	keyBodyContains    = "body_contains"
	keyBodyNotContains = "body_not_contains"
	keyConnectTimeout  = "connect_timeout"

	keyCases    = "cases" // of switch and conditions
	keyWhen     = "when"
	keyThen     = "then"
	keyElse     = "else"
	keyProject  = "project" // of sub_workflow and dependent
	keyWorkflow = "workflow"
	keyTask     = "task"
	keyDate     = "date"
	keyCheck    = "check"
	keyAll      = "all"
	keyAny      = "any"
	keyInterval = "interval"

	keyOver     = "over" // of dynamic
	keyIn       = "in"
	keyFilter   = "filter"
	keyParallel = "parallel"

	keySchedules = "schedules"

	keyCron     = "cron" // of a schedule
	keyTimezone = "timezone"
	keyEnabled  = "enabled"
	keyStart    = "start"
	keyEnd      = "end"
	keyMisfire  = "misfire"
	keyPolicy   = "policy"

	keyDefault = "default" // of a parameter
)

// The task types.
const (
	typeShell       = "shell"
	typePython      = "python"
	typeHTTP        = "http"
	typeNoop        = "noop"
	typeSQL         = "sql"
	typeSwitch      = "switch"
	typeConditions  = "conditions"
	typeSubWorkflow = "sub_workflow"
	typeDynamic     = "dynamic"
	typeDependent   = "dependent"
)

// outputResponse is the output of an http task that holds the answer's body.
const outputResponse = "response"
