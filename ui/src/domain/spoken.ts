// What Intl says of spans, months and weekdays, in the console's two languages: a page's first formatter of its takes 15 ms
// of the page's opening, for a dozen words. A test holds them to Intl.

type Unit = "day" | "hour" | "minute" | "second";

interface Words {
  now: string;
  days: Record<number, string>; // by how many days off
  units: Record<Unit, string>;
  ago: (span: string) => string;
  ahead: (span: string) => string;
  months: string[];
  weekdays: string[]; // from Monday
  letters: string[];
}

const english: Words = {
  now: "now",
  days: { [-1]: "yesterday", 1: "tomorrow" },
  units: { day: " days", hour: " hr.", minute: " min.", second: " sec." },
  ago: (span) => `${span} ago`,
  ahead: (span) => `in ${span}`,
  months: "January February March April May June July August September October November December".split(" "),
  weekdays: "Mon Tue Wed Thu Fri Sat Sun".split(" "),
  letters: "M T W T F S S".split(" "),
};

const chinese: Words = {
  now: "现在",
  days: { [-2]: "前天", [-1]: "昨天", 1: "明天", 2: "后天" },
  units: { day: "天", hour: "小时", minute: "分钟", second: "秒" },
  ago: (span) => `${span}前`,
  ahead: (span) => `${span}后`,
  months: "一月 二月 三月 四月 五月 六月 七月 八月 九月 十月 十一月 十二月".split(" "),
  weekdays: "周一 周二 周三 周四 周五 周六 周日".split(" "),
  letters: "一 二 三 四 五 六 日".split(" "),
};

const wordsOf = (locale: string): Words => (locale === "zh-CN" ? chinese : english);

const steps: [Unit, number][] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000],
];

/** relative says how far a moment is from now: "4 min. ago", "in 3 min.". */
export function relative(at: number, now: number, locale: string): string {
  const words = wordsOf(locale);
  const gap = at - now;
  for (const [unit, size] of steps) {
    const n = Math.trunc(gap / size);
    if (n === 0) continue;
    if (unit === "day" && words.days[n] !== undefined) return words.days[n];
    const count = Math.abs(n);
    const span = `${count < 1000 ? count : count.toLocaleString(locale)}${words.units[unit]}`;
    return n < 0 ? words.ago(span) : words.ahead(span);
  }
  return words.now;
}

/** monthWord is the name of a month such as 2026-03. */
export function monthWord(month: string, locale: string): string {
  return wordsOf(locale).months[Number(month.slice(5)) - 1] ?? month;
}

/** weekdayWord is the name of a weekday, 0 for Monday, or its letter. */
export function weekdayWord(weekday: number, locale: string, narrow = false): string {
  const { letters, weekdays } = wordsOf(locale);
  return (narrow ? letters : weekdays)[weekday] ?? "";
}
