// Names of tasks in the text of a condition: load.state, task("load all").state, ${load.rows}. Only
// what a renaming must find is known here; whether a condition holds together is the server's matter.

// Comments and texts in quotes are passed over as a whole; a text may hold ${name} inside.
const tokens =
  /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|`(?:``|[^`])*`?|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|\$\{[^}]*\}?|[\p{L}\p{N}_$]+|\.|\S/gu;

// Words of the language: a task of such a name is written task("in").
const words = new Set("and or not in contains matches startsWith endsWith true false nil null let if else task".split(" "));
const plain = /^[\p{L}_][\p{L}\p{N}_]*$/u;

/** renameInExpression gives a condition in which a task has another name, wherever it stands for that task. */
export function renameInExpression(text: string, from: string, to: string): string {
  const bare = isBare(from);
  const found = [...text.matchAll(tokens)].filter(([token]) => !token.startsWith("//") && !token.startsWith("/*"));
  let out = "";
  let done = 0;
  const put = (at: number, old: string, insert: string) => {
    out += text.slice(done, at) + insert;
    done = at + old.length;
  };
  for (const [i, match] of found.entries()) {
    const [token] = match;
    const before = found[i - 1]?.[0];
    if (bare && token === from && before !== "." && found[i + 1]?.[0] === ".") put(match.index, token, nameIn(to));
    else if (isCall(found.slice(Math.max(0, i - 3), i)) && isQuoted(token, from))
      put(
        match.index,
        token,
        token.replace(from, () => to),
      );
    else if (token.includes("${")) put(match.index, token, renameInTemplate(token, from, to));
  }
  return out + text.slice(done);
}

function isBare(name: string): boolean {
  return plain.test(name) && !words.has(name);
}

function nameIn(name: string): string {
  return isBare(name) ? name : `task(${JSON.stringify(name)})`;
}

function isCall(before: readonly RegExpExecArray[]): boolean {
  const [dot, name, bracket] = before.length === 3 ? before : [undefined, ...before];
  return name?.[0] === "task" && bracket?.[0] === "(" && dot?.[0] !== ".";
}

function isQuoted(token: string, name: string): boolean {
  return token === `"${name}"` || token === `'${name}'`;
}

// $${ is the text ${ itself. The output's name is what follows the last dot.
const reference = /(\$?)\$\{([^}\r\n]*)\.(\w+)\}/g;

/** referencesTo are the places of a task's name in the ${task.output} of a text. */
export function referencesTo(text: string, name: string): number[] {
  return [...text.matchAll(reference)].flatMap((m) => (m[1] !== "$" && m[2] === name ? [m.index + "${".length] : []));
}

function renameInTemplate(text: string, from: string, to: string): string {
  let out = "";
  let done = 0;
  for (const at of referencesTo(text, from)) {
    out += text.slice(done, at) + to;
    done = at + from.length;
  }
  return out + text.slice(done);
}
