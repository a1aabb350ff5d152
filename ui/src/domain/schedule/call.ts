import { quote } from "../terminal";

/** pathOfCall is what the calls of a schedule go to, below the address of the API. */
export const pathOfCall = (id: string) => `/hooks/${id}`;

/** asShell signs a call and makes it, as `porpoise schedule hook` prints it: the secret itself nobody is shown, its name stands in the first line. */
export function asShell(url: string, secret: string): string {
  return `# SECRET is the value of the secret ${secret}
BODY=\${BODY:-"{}"} TIMESTAMP=$(date +%s)
SIGNATURE=$(printf '%s.%s' "$TIMESTAMP" "$BODY" | openssl dgst -sha256 -hmac "\${SECRET:?}" | sed 's/^.* //')
curl -sS -X POST ${quote(url)} -H 'Content-Type: application/json' -H "Porpoise-Event: \${EVENT:-$(openssl rand -hex 16)}" \\
  -H "Porpoise-Timestamp: $TIMESTAMP" -H "Porpoise-Signature: v1=$SIGNATURE" --data-binary "$BODY"
`;
}
