import type { Timer, TimerDef } from "../../api/timers";

// A timer as its form holds it: every field a text, so that what is half written stays as it was typed.

export const methods = ["POST", "GET", "PATCH", "DELETE"] as const;
export type Method = (typeof methods)[number];

export interface TimerDraft {
  name: string;
  cron: string;
  dialect: "" | "unix" | "quartz";
  timezone: string;
  method: Method;
  url: string;
  headers: string; // a name, a colon and a value, one a line
  body: string;
  seconds: string;
  tries: string;
}

export function freshTimer(timezone: string): TimerDraft {
  return { name: "", cron: "", dialect: "", timezone, method: "POST", url: "", headers: "", body: "", seconds: "", tries: "" };
}

export function timerDraft(t: Timer): TimerDraft {
  const call = t.notifyHTTPParam;
  return {
    name: t.name,
    cron: t.cron,
    dialect: t.dialect ?? "",
    timezone: t.timezone || "UTC",
    method: methods.find((m) => m === call.method) ?? "POST",
    url: call.url,
    headers: Object.entries(call.header ?? {})
      .flatMap(([name, values]) => (values ?? []).map((value) => `${name}: ${value}`))
      .join("\n"),
    body: call.body ?? "",
    seconds: call.timeoutSeconds ? String(call.timeoutSeconds) : "",
    tries: call.maxTries ? String(call.maxTries) : "",
  };
}

/** timerOf is what a draft says. The server judges it: a text that is no number is one that it refuses. */
export function timerOf(d: TimerDraft, app: string): TimerDef {
  const header = headersOf(d.headers);
  const [timeoutSeconds, maxTries] = [d.seconds, d.tries].map(whole);
  return {
    app,
    name: d.name.trim(),
    cron: d.cron.trim(),
    ...(d.dialect !== "" && { dialect: d.dialect }),
    timezone: d.timezone,
    notifyHTTPParam: {
      url: d.url.trim(),
      method: d.method,
      ...(Object.keys(header).length > 0 && { header }),
      ...(d.body !== "" && { body: d.body }),
      ...(timeoutSeconds !== undefined && { timeoutSeconds }),
      ...(maxTries !== undefined && { maxTries }),
    },
  };
}

function whole(text: string): number | undefined {
  const t = text.trim();
  if (t === "") return undefined;
  return /^\d{1,9}$/.test(t) ? Number(t) : -1;
}

/** headersOf reads headers by line; of one name there may be several. A line without a colon is a name without a value. */
function headersOf(text: string): Record<string, string[]> {
  const out: Record<string, string[]> = {};
  for (const line of text.split("\n")) {
    if (line.trim() === "") continue;
    const at = line.indexOf(":");
    const name = (at < 0 ? line : line.slice(0, at)).trim();
    out[name] = [...(out[name] ?? []), at < 0 ? "" : line.slice(at + 1).trim()];
  }
  return out;
}
