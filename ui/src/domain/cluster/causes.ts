// Why the layout changed and what a failover is about. The server writes it as words; those that it can write are few, so that
// each is read back to what it says, for the reader's language. Of what is kept for years there is nothing but the words.

/** causeKeys name the sentences; each stands as cluster.why.<name> in every language. */
export const causeKeys = [
  "joined",
  "restarted",
  "weight",
  "left",
  "more",
  "asked",
  "first",
  "lost",
  "unfinished",
  "none",
  "absent",
  "again",
  "workerGone",
  "workerRestarted",
  "members",
  "noAck",
] as const;
export type CauseKey = (typeof causeKeys)[number];

/** Cause is a sentence's name with what stands in it: a node, a person or a number. */
export interface Cause {
  key: CauseKey;
  values: { who: string; n: string };
}

const forms: [CauseKey, RegExp][] = [
  ["joined", /^(?<who>\S+) joined$/],
  ["restarted", /^(?<who>\S+) restarted$/],
  ["weight", /^(?<who>\S+) has weight (?<n>\d+)$/],
  ["left", /^(?<who>\S+) left$/],
  ["more", /^and (?<n>\d+) more$/],
  ["asked", /^asked for by (?<who>.+)$/],
  ["first", /^the first layout$/],
  ["lost", /^the registry lost the layout$/],
  ["unfinished", /^the rebalance of (?<who>.+) was not finished$/],
  ["none", /^no layout stands$/],
  ["absent", /^the master left the registry$/],
  ["again", /^the master was started again$/],
  ["workerGone", /^worker (?<who>.+) is gone$/],
  ["workerRestarted", /^worker (?<who>.+) restarted without it$/],
  ["members", /^(?<n>\d+) members$/],
  ["noAck", /^no ack to (?<n>\d+) tries$/],
];

/** causesOf reads the parts of a cause; one that this console does not know stays the text that it is. */
export function causesOf(text: string): (Cause | string)[] {
  return text
    .split(", ")
    .filter((part) => part !== "")
    .map((part) => {
      for (const [key, form] of forms) {
        const found = form.exec(part);
        if (found) return { key, values: { who: found.groups?.who ?? "", n: found.groups?.n ?? "" } };
      }
      return part;
    });
}
