// Reads the types that were generated from the server's document (schema.d.ts), so that a
// test can hold an answer against them: types alone are gone when a test runs.

/** Type is one type of the generated file. */
export type Type =
  | { kind: "any" }
  | { kind: "plain"; name: "string" | "number" | "boolean" | "null" }
  | { kind: "literal"; value: string }
  | { kind: "ref"; name: string }
  | { kind: "list"; of: Type }
  | { kind: "union"; of: Type[] }
  | { kind: "object"; fields: Map<string, { type: Type; optional: boolean }>; rest: Type | undefined };

type Fields = Map<string, { type: Type; optional: boolean }>;

const tokens = /"(?:[^"\\]|\\.)*"|[A-Za-z_$][\w$]*|\[\]|[{}[\]()|;:?]/g;

/** schemasOf reads components.schemas out of the generated file's text. */
export function schemasOf(text: string): Map<string, Type> {
  const from = text.indexOf("    schemas: {");
  const to = text.indexOf("    responses: never", from);
  if (from < 0 || to < 0) throw new Error("schema.d.ts has no components.schemas: is it another generator's?");
  const body = text
    .slice(from + "    schemas: ".length, to)
    .replaceAll(/\/\*[\s\S]*?\*\//g, "")
    .replaceAll("Record<string, never>", "{}");
  const parser = new Parser(body.match(tokens) ?? []);
  const all = parser.type();
  if (all.kind !== "object") throw new Error("components.schemas is no object");
  return new Map([...all.fields].map(([name, f]) => [name, f.type]));
}

class Parser {
  private at = 0;
  private readonly all: readonly string[];

  constructor(all: readonly string[]) {
    this.all = all;
  }

  type(): Type {
    const of = [this.single()];
    while (this.all[this.at] === "|") {
      this.at++;
      of.push(this.single());
    }
    const [only] = of;
    return of.length === 1 && only ? only : { kind: "union", of };
  }

  private single(): Type {
    let one = this.primary();
    while (this.all[this.at] === "[]") {
      this.at++;
      one = { kind: "list", of: one };
    }
    return one;
  }

  private primary(): Type {
    const token = this.take();
    switch (token) {
      case "{":
        return this.object();
      case "(": {
        const inner = this.type();
        this.expect(")");
        return inner;
      }
      case "components": {
        for (const part of ["[", '"schemas"', "]", "["]) this.expect(part);
        const name: unknown = JSON.parse(this.take());
        this.expect("]");
        return { kind: "ref", name: String(name) };
      }
      case "string":
      case "number":
      case "boolean":
      case "null":
        return { kind: "plain", name: token };
      case "unknown":
        return { kind: "any" };
      case "never":
        return { kind: "union", of: [] };
      default:
        if (token.startsWith('"')) return { kind: "literal", value: String(JSON.parse(token)) };
        throw new Error(`schema.d.ts has a type that the contract does not know: ${token}`);
    }
  }

  private object(): Type {
    const fields: Fields = new Map();
    let rest: Type | undefined;
    while (this.all[this.at] !== "}") {
      const name = this.take();
      if (name === "[") {
        for (const part of ["key", ":", "string", "]", ":"]) this.expect(part);
        rest = this.type();
      } else {
        const optional = this.all[this.at] === "?";
        if (optional) this.at++;
        this.expect(":");
        fields.set(name.startsWith('"') ? String(JSON.parse(name)) : name, { type: this.type(), optional });
      }
      this.expect(";");
    }
    this.at++;
    return { kind: "object", fields, rest };
  }

  private take(): string {
    const token = this.all[this.at++];
    if (token === undefined) throw new Error("schema.d.ts ends too soon");
    return token;
  }

  private expect(want: string): void {
    const token = this.take();
    if (token !== want) throw new Error(`schema.d.ts: ${want} expected, there is ${token}`);
  }
}

/** faults lists where a value is not of the type, with its path; nothing means that it fits. */
export function faults(schemas: Map<string, Type>, type: Type, value: unknown, path = "$"): string[] {
  switch (type.kind) {
    case "any":
      return [];
    case "plain":
      return (type.name === "null" ? value === null : typeof value === type.name) ? [] : [`${path}: ${shown(value)} is no ${type.name}`];
    case "literal":
      return value === type.value ? [] : [`${path}: ${shown(value)} is not ${type.value}`];
    case "ref": {
      const named = schemas.get(type.name);
      return named ? faults(schemas, named, value, path) : [`${path}: there is no schema ${type.name}`];
    }
    case "list":
      if (!Array.isArray(value)) return [`${path}: ${shown(value)} is no list`];
      return value.flatMap((v, i) => faults(schemas, type.of, v, `${path}[${i}]`));
    case "union": {
      const tries = type.of.map((t) => faults(schemas, t, value, path));
      return tries.some((t) => t.length === 0) ? [] : [`${path}: ${shown(value)} is none of its types`];
    }
    case "object":
      return objectFaults(schemas, type, value, path);
  }
}

function objectFaults(schemas: Map<string, Type>, type: Extract<Type, { kind: "object" }>, value: unknown, path: string): string[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [`${path}: ${shown(value)} is no object`];
  const found = new Map(Object.entries(value));
  const out: string[] = [];
  for (const [name, f] of type.fields) {
    if (found.has(name)) out.push(...faults(schemas, f.type, found.get(name), `${path}.${name}`));
    else if (!f.optional) out.push(`${path}.${name} is missing`);
  }
  for (const [name, v] of found) {
    if (type.fields.has(name)) continue;
    if (type.rest) out.push(...faults(schemas, type.rest, v, `${path}.${name}`));
    else out.push(`${path}.${name} is not in the schema`);
  }
  return out;
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? "nothing").slice(0, 40);
}
