package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
	"github.com/porpoise/porpoise/internal/webhook"
)

func (c *cli) scheduleHookCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "hook PROJECT/WORKFLOW SCHEDULE",
		Short: "Print the lines for a shell that call a schedule's webhook",
		Long: `Print the lines for a shell that call a schedule's webhook. SECRET is to hold the value of
the secret that the schedule names, and BODY the JSON object that is sent; without it {}.
An EVENT that was taken before starts nothing again. It needs curl and openssl.`,
		Example: `  porpoise schedule hook shop/daily deploy > call.sh
  SECRET=... BODY='{"release": {"day": 7}}' EVENT=build-118 sh call.sh`,
		Args: cobra.ExactArgs(2),
		RunE: c.onSchedule(func(ctx context.Context, cl *client.Client, project, workflow, name string) error {
			s, err := cl.Schedule(ctx, project, workflow, name, 0)
			if err != nil {
				return err
			}
			if s.Webhook == nil {
				return usagef("schedule %s has no webhook: it fires by %s", s.Name, when(s))
			}
			url := cl.Server() + "/api/v1/hooks/" + s.ID
			if c.output == "json" {
				return c.json(map[string]string{"url": url, "secret": s.Webhook.Secret})
			}
			_, err = fmt.Fprint(c.out, hookScript(url, s.Webhook.Secret))
			return err
		}),
		ValidArgsFunction: c.completeWorkflows,
	}
}

// hookScript is what calls a webhook from a shell.
func hookScript(url, secret string) string {
	return strings.NewReplacer("URL", quoted(url), "NAME", secret, "EVENT_HEADER", webhook.EventHeader, "TIMESTAMP_HEADER", webhook.TimestampHeader, "SIGNATURE_HEADER", webhook.SignatureHeader).
		Replace(`# SECRET is the value of the secret NAME
BODY=${BODY:-"{}"} TIMESTAMP=$(date +%s)
SIGNATURE=$(printf '%s.%s' "$TIMESTAMP" "$BODY" | openssl dgst -sha256 -hmac "${SECRET:?}" | sed 's/^.* //')
curl -sS -X POST URL -H 'Content-Type: application/json' -H "EVENT_HEADER: ${EVENT:-$(openssl rand -hex 16)}" \
  -H "TIMESTAMP_HEADER: $TIMESTAMP" -H "SIGNATURE_HEADER: v1=$SIGNATURE" --data-binary "$BODY"
`)
}

// quoted is a text as one word of a shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
