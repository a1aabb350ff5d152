// What a worker or a master says of an attempt beside its reason. It is kept as words, which are few: each is read back to what it
// says, for the reader's language. What a task or a library says stays as it is.

/** messageKeys name the sentences; each stands as message.<name> in every language. */
export const messageKeys = [
  "code",
  "signal",
  "kept",
  "item",
  "noSlot",
  "unheard",
  "uncounted",
  "reached",
  "sending",
  "notHere",
  "callCut",
  "runner",
  "unkillable",
  "noExitCode",
  "codeNotAmong",
  "codeAmong",
] as const;
export type MessageKey = (typeof messageKeys)[number];

const forms: [MessageKey, RegExp][] = [
  ["code", /^ended with code (?<n>\d+)$/],
  ["signal", /^ended by signal (?<n>\w+)$/],
  ["kept", /^taken over from instance (?<n>\d+)$/],
  ["item", /^item (?<n>\d+), child instance (?<id>\d+)$/],
  ["noSlot", /^all (?<n>\d+) slots are taken$/],
  ["unheard", /^for too long nobody was heard who counts on this attempt$/],
  ["uncounted", /^nobody has counted on this worker for too long$/],
  ["reached", /^nobody counted on it any more: it may have reached its goal$/],
  ["sending", /^nobody counted on it any more while its artifacts were sent$/],
  ["notHere", /^it was not on this worker$/],
  ["callCut", /^the worker's process ended while the call was under way; it may have reached its goal$/],
  ["runner", /^the runner ended without a word; what the task had started was killed$/],
  ["unkillable", /^processes of this attempt do not end by KILL$/],
  ["noExitCode", /^not retried: it ended without an exit code, and on_exit_codes names those that are$/],
  ["codeNotAmong", /^not retried: exit code (?<n>\d+) is not among on_exit_codes$/],
  ["codeAmong", /^not retried: exit code (?<n>\d+) is among not_on_exit_codes$/],
];

/** Message is a sentence's name with what stands in it. */
export interface Message {
  key: MessageKey;
  values: { n: string; id: string };
}

/** messageOf reads a message; undefined where this console does not know it. */
export function messageOf(text: string): Message | undefined {
  for (const [key, form] of forms) {
    const found = form.exec(text);
    if (found) return { key, values: { n: found.groups?.n ?? "", id: found.groups?.id ?? "" } };
  }
  return undefined;
}
