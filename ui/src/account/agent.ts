// What a browser calls itself, in the words of a person.

const browsers: [RegExp, string][] = [
  [/\bEdg\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bFirefox\//, "Firefox"],
  [/\b(Headless)?Chrom(e|ium)\//, "Chrome"],
  [/\bSafari\//, "Safari"],
  [/\bcurl\//, "curl"],
];

const systems: [RegExp, string][] = [
  [/\bAndroid\b/, "Android"],
  [/\b(iPhone|iPad)\b/, "iOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b/, "macOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
];

/** browserName shortens a User-Agent to the browser and its system; what is not known stays as it is, cut. */
export function browserName(agent: string): string {
  const name = browsers.find(([is]) => is.test(agent))?.[1];
  const system = systems.find(([is]) => is.test(agent))?.[1];
  if (name === undefined) return agent.slice(0, 40);
  return system === undefined ? name : `${name}, ${system}`;
}
