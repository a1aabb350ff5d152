// What a text is that somebody brings along, and how he names what an export knows by codes alone.

export type Brought = "yaml" | "json" | "export";

/** broughtOf tells a definition from an export of DolphinScheduler, whose workflows were processes until its version 3.2. */
export function broughtOf(text: string): Brought {
  if (!/^\s*[[{]/.test(text.replace(/^\ufeff/, ""))) return "yaml";
  try {
    const read: unknown = JSON.parse(text.replace(/^\ufeff/, ""));
    const first: unknown = Array.isArray(read) ? read[0] : read;
    const exported = typeof first === "object" && first !== null && ("processDefinition" in first || "workflowDefinition" in first);
    return exported || Array.isArray(read) ? "export" : "json";
  } catch {
    // A flow map of YAML begins as JSON does; what is neither is told so by who reads it.
    return "yaml";
  }
}

/** namesOf reads lines such as environment:12610318974999 = prod; wrong are those that are not so. */
export function namesOf(text: string): { names: Record<string, string>; wrong: string[] } {
  const names: Record<string, string> = {};
  const wrong: string[] = [];
  for (const line of text.split("\n").map((l) => l.trim())) {
    if (line === "") continue;
    const [, code, name] = /^([a-z_]+:\S+?)\s*=\s*(\S.*)$/.exec(line) ?? [];
    if (code === undefined || name === undefined) wrong.push(line);
    else names[code] = name;
  }
  return { names, wrong };
}
