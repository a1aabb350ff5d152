// Values held against the JSON Schema that the server describes a task type with. Only what a schema
// says for certain is found here, by the server's own codes; the server looks at the rest.

import { fieldOf, type Path } from "./path";
import type { Good } from "./read";
import { entryOf, type ListNode, type MapNode, type Node, type ScalarNode } from "./tree";
import type { Finding } from "./validate";

/** Schema is a part of a JSON Schema. */
export type Schema = Readonly<Record<string, unknown>>;

/** isSchema tells a schema from other values. */
export function isSchema(x: unknown): x is Schema {
  return typeof x === "object" && x !== null && !Array.isArray(x);
}

/** textsOf are the texts of a list. */
export function textsOf(x: unknown): string[] {
  return Array.isArray(x) ? x.filter((v): v is string => typeof v === "string") : [];
}

/** numberForm is a number as JSON writes it: YAML's other forms are texts to the server. */
const numberForm = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

// A duration of a list has no editor of its own, and is known by its form. One below zero is out of range, and not of another form.
const durationMark = "^(0|(?=[0-9])([0-9]+d)?";
const durationForm = /^-?(0|(?=\d)(\d+d)?(\d+h)?(\d+m)?(\d+s)?(\d+ms)?)$/;

/** Shapes finds what does not fit, in one text. */
export class Shapes {
  readonly findings: Finding[] = [];

  constructor(
    private readonly good: Good,
    private readonly root: Schema,
  ) {}

  /** map holds a map's keys against a schema; open lets unknown ones pass. */
  map(node: MapNode, schema: Schema, path: Path, open = false): void {
    const properties = isSchema(schema.properties) ? schema.properties : {};
    for (const entry of node.entries) {
      const at = [...path, entry.key];
      const own = properties[entry.key];
      if (isSchema(own)) this.value(entry.value, own, at, required(schema, entry.key));
      else if (!open && schema.additionalProperties === false) this.add(at, "unknown_field", entry.key);
      else if (isSchema(schema.additionalProperties)) this.value(entry.value, schema.additionalProperties, at);
    }
    for (const key of textsOf(schema.required)) if (!entryOf(node, key)) this.add([...path, key], "required");
  }

  /** value holds one value against its schema. */
  value(node: Node, part: Schema, path: Path, needed = false): void {
    const schema = this.resolved(part);
    const kinds = kindsOf(schema);
    if (node.kind === "scalar" && node.value === null) this.add(path, "null");
    else if (Array.isArray(schema.anyOf)) this.either(node, schema.anyOf.filter(isSchema), path);
    else if (kinds.length > 0 && !kinds.some((kind) => this.is(node, kind))) this.add(path, "wrong_type", shown(node));
    else if (node.kind === "map") this.map(node, schema, path);
    else if (node.kind === "list") this.list(node, schema, path);
    else this.scalar(node, schema, path, needed);
  }

  // A value of several forms is the one of its own kind, where there is just one.
  private either(node: Node, forms: readonly Schema[], path: Path): void {
    const fits = forms.filter((form) => kindsOf(form).some((kind) => this.is(node, kind)));
    const [only] = fits;
    if (fits.length === 0) this.add(path, "wrong_type", shown(node));
    else if (fits.length === 1 && only && node.kind !== "scalar") this.value(node, only, path);
  }

  private list({ items }: ListNode, schema: Schema, path: Path): void {
    const { items: each } = schema;
    if (!within(items.length, schema.minItems, schema.maxItems))
      this.add(path, "out_of_range", undefined, limits(schema.minItems, schema.maxItems));
    else if (isSchema(each)) for (const [i, item] of items.entries()) this.value(item.value, each, [...path, i]);
  }

  private scalar(node: ScalarNode, schema: Schema, path: Path, needed: boolean): void {
    const { value } = node;
    if (schema["x-editor"] === "duration" || (typeof schema.pattern === "string" && schema.pattern.startsWith(durationMark))) {
      if (!(typeof value === "string" ? durationForm.test(value) : value === 0)) this.add(path, "wrong_type", shown(node));
      return;
    }
    const words = textsOf(schema.enum);
    if (typeof value === "number") {
      if (!within(value, schema.minimum, schema.maximum))
        this.add(path, "out_of_range", this.raw(node), limits(schema.minimum, schema.maximum));
    } else if (typeof value === "string") {
      if (value === "") {
        if (needed) this.add(path, "required");
      } else if (words.length > 0 && !words.includes(value)) {
        this.add(path, "not_in_enum", value, { allowed: words });
      } else if (typeof schema.maxLength === "number" && value.length > schema.maxLength) this.add(path, "too_large", value.slice(0, 64));
    }
  }

  private is(node: Node, kind: string): boolean {
    switch (kind) {
      case "object":
        return node.kind === "map";
      case "array":
        return node.kind === "list";
      case "boolean":
        return node.kind === "scalar" && typeof node.value === "boolean";
      case "string":
        // What YAML takes for a number in a form that JSON does not know is left to the server.
        return (
          node.kind === "scalar" && (typeof node.value === "string" || (typeof node.value === "number" && !numberForm.test(this.raw(node))))
        );
      case "number":
        return node.kind === "scalar" && typeof node.value === "number" && numberForm.test(this.raw(node));
      case "integer":
        return (
          node.kind === "scalar" && typeof node.value === "number" && (/^-?\d+$/.test(this.raw(node)) || !numberForm.test(this.raw(node)))
        );
      default:
        return true;
    }
  }

  private raw(node: ScalarNode): string {
    return this.good.text.slice(node.from, node.to);
  }

  // What stands beside a reference goes before what it refers to.
  private resolved(part: Schema): Schema {
    if (typeof part.$ref !== "string") return part;
    const defs = isSchema(this.root.$defs) ? this.root.$defs : {};
    const target = defs[part.$ref.replace("#/$defs/", "")];
    return isSchema(target) ? { ...target, ...part } : part;
  }

  private add(path: Path, code: string, value?: string, args?: Finding["args"]): void {
    this.findings.push({ field: fieldOf(path), code, message: "", ...(value !== undefined && { value }), ...(args && { args }) });
  }
}

function kindsOf(schema: Schema): string[] {
  return typeof schema.type === "string" ? [schema.type] : textsOf(schema.type);
}

function required(schema: Schema, key: string): boolean {
  return textsOf(schema.required).includes(key);
}

function limits(min: unknown, max: unknown): Finding["args"] {
  return { ...(typeof min === "number" && { min }), ...(typeof max === "number" && { max }) };
}

function within(n: number, low: unknown, high: unknown): boolean {
  return !(typeof low === "number" && n < low) && !(typeof high === "number" && n > high);
}

function shown(node: Node): string | undefined {
  return node.kind === "scalar" ? String(node.value).slice(0, 64) : undefined;
}
