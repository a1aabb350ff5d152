// A script as its shell would read it: variables with their values in place. It is only shown, never run.

/** Piece is a part of a script; value is set where a variable stood. */
export interface Piece {
  readonly text: string;
  readonly name?: string;
}

const variable = /\\\$|\$\{([A-Za-z_]\w*)\}|\$([A-Za-z_]\w*)/g;

/** missingIn names the variables of a script that are known to be given by other tasks, and have no value yet. */
export function missingIn(script: string, env: Readonly<Record<string, string>>, given: ReadonlySet<string>): string[] {
  const names = [...script.matchAll(variable)].map((m) => m[1] ?? m[2] ?? "");
  return [...new Set(names)].filter((n) => given.has(n) && !Object.hasOwn(env, n));
}

/** rendered puts the values of an environment in place of $name and ${name}; what is not in it stays as it is. */
export function rendered(script: string, env: Readonly<Record<string, string>>): Piece[] {
  const out: Piece[] = [];
  let at = 0;
  for (const match of script.matchAll(variable)) {
    const name = match[1] ?? match[2];
    if (name === undefined || !Object.hasOwn(env, name)) continue;
    if (match.index > at) out.push({ text: script.slice(at, match.index) });
    out.push({ text: env[name] ?? "", name });
    at = match.index + match[0].length;
  }
  if (at < script.length) out.push({ text: script.slice(at) });
  return out;
}
