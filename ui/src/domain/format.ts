// Words for durations, moments and sizes that are the same in every language; nothing here knows
// the clock or the page.

/** duration says how long something took: 820 ms, 12.4 s, 4m 12s, 1h 04m, 2d 3h. */
export function duration(ms: number): string {
  if (!Number.isFinite(ms) || ms < 0) return "–";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${String(seconds % 60).padStart(2, "0")}s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours}h ${String(minutes % 60).padStart(2, "0")}m`;
  return `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

/** roundDuration leaves out an end of zeros, for widths that are whole: 30m, 2h, 1d, 4m 12s. */
export function roundDuration(ms: number): string {
  return duration(ms).replace(/(\d[mhd]) 0+[smh]$/, "$1");
}

const binary = ["B", "KiB", "MiB", "GiB", "TiB"];

/** bytes says a size in IEC units: 512 B, 1.5 KiB, 64 MiB. */
export function bytes(n: number): string {
  let unit = 0;
  let v = n;
  while (v >= 1024 && unit < binary.length - 1) {
    v /= 1024;
    unit++;
  }
  const digits = unit === 0 || v >= 100 || Number.isInteger(v) ? 0 : 1;
  return `${v.toFixed(digits)} ${binary[unit]}`;
}

/** Zone is a name that Intl knows, or "browser" for the viewer's own. */
export type Zone = "browser" | "UTC" | string;

interface Parts {
  date: string;
  time: string;
  offset: string;
}

// To make a formatter takes a hundred times as long as to use it: one per zone and precision is kept.
const formatters = new Map<string, Intl.DateTimeFormat>();

function formatter(zone: Zone, ms: boolean): Intl.DateTimeFormat {
  const key = `${zone} ${ms}`;
  const kept = formatters.get(key);
  if (kept) return kept;
  const made = new Intl.DateTimeFormat("en-CA", {
    timeZone: zone === "browser" ? undefined : zone,
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
    timeZoneName: "longOffset",
    ...(ms ? { fractionalSecondDigits: 3 } : {}),
  });
  formatters.set(key, made);
  return made;
}

const two = (n: number) => String(n).padStart(2, "0");
/** lastPlain is the end of the year 9999: what is before 1970 or after it is left to Intl, which knows of local mean times and long years. */
const lastPlain = Date.UTC(9999, 11, 30);

/** plainParts are the parts in the browser's own zone and in UTC, which a Date knows without Intl: to make the first formatter takes 20 ms of a page's opening. */
function plainParts(at: number, zone: "browser" | "UTC", ms: boolean): Parts {
  const offset = zone === "UTC" ? 0 : -new Date(at).getTimezoneOffset();
  const d = new Date(at + offset * 60_000); // its UTC is that zone's time of day
  const fraction = ms ? `.${String(d.getUTCMilliseconds()).padStart(3, "0")}` : "";
  const away = Math.abs(offset);
  return {
    date: `${d.getUTCFullYear()}-${two(d.getUTCMonth() + 1)}-${two(d.getUTCDate())}`,
    time: `${two(d.getUTCHours())}:${two(d.getUTCMinutes())}:${two(d.getUTCSeconds())}${fraction}`,
    offset: `${offset < 0 ? "-" : "+"}${two(Math.floor(away / 60))}:${two(away % 60)}`,
  };
}

function parts(at: number, zone: Zone, ms: boolean): Parts {
  if ((zone === "browser" || zone === "UTC") && at >= 0 && at < lastPlain) return plainParts(at, zone, ms);
  const got: Record<string, string> = {};
  for (const p of formatter(zone, ms).formatToParts(at)) got[p.type] = p.value;
  const offset = (got.timeZoneName ?? "").replace("GMT", "") || "+00:00";
  const fraction = got.fractionalSecond ? `.${got.fractionalSecond}` : "";
  return { date: `${got.year}-${got.month}-${got.day}`, time: `${got.hour}:${got.minute}:${got.second}${fraction}`, offset };
}

/** moment says a time in full with its offset: 2026-03-27 02:04:11 +08:00. */
export function moment(at: number, zone: Zone, ms = false): string {
  const p = parts(at, zone, ms);
  return `${p.date} ${p.time} ${p.offset}`;
}

/** clockTime says the time of day alone, for axes and logs whose day is known. */
export function clockTime(at: number, zone: Zone, ms = false): string {
  return parts(at, zone, ms).time;
}

/** shortMoment leaves out what now makes plain: the date of today, the offset. */
export function shortMoment(at: number, now: number, zone: Zone): string {
  return shortMomentOn(at, dayOf(now, zone), zone);
}

/** shortMomentOn is shortMoment for who has today's date at hand, as a list of many rows has. */
export function shortMomentOn(at: number, today: string, zone: Zone): string {
  const p = parts(at, zone, false);
  return p.date === today ? p.time : `${p.date.slice(5)} ${p.time.slice(0, 5)}`;
}

/** dayOf is the date at a moment: 2026-03-27. */
export function dayOf(at: number, zone: Zone): string {
  return parts(at, zone, false).date;
}

/** offsetOf says a zone's offset now, as the top bar prints it. */
export function offsetOf(zone: Zone, now: number): string {
  return parts(now, zone, false).offset;
}

/** millis reads the server's RFC 3339; undefined stays undefined. */
export function millis(text: string | undefined): number | undefined {
  if (!text) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}

/** exact says a duration to the millisecond: 812 ms, 12.345 s, 4m 12.345s. */
export function exact(ms: number): string {
  if (!Number.isFinite(ms) || ms < 0) return "–";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const whole = Math.round(ms);
  const minutes = Math.floor(whole / 60_000);
  const seconds = ((whole % 60_000) / 1000).toFixed(3);
  return minutes === 0 ? `${seconds} s` : `${minutes}m ${seconds.padStart(6, "0")}s`;
}
