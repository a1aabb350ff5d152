// Draws the OpenAPI document. Everything goes into the page as text nodes.
"use strict";

const el = (tag, props, ...children) => {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(props || {})) e.setAttribute(k, v);
  for (const c of children.flat()) if (c !== null && c !== undefined) e.append(c);
  return e;
};

// name says a schema in a word or two.
function name(doc, s) {
  if (!s) return "";
  if (s.$ref) return s.$ref.split("/").pop();
  if (s.type === "array" || (Array.isArray(s.type) && s.type.includes("array"))) return name(doc, s.items) + "[]";
  if (s.anyOf) return s.anyOf.map((o) => name(doc, o)).join(" | ");
  if (s.additionalProperties && typeof s.additionalProperties === "object") return "map of " + name(doc, s.additionalProperties);
  const type = Array.isArray(s.type) ? s.type.join(" | ") : s.type || "any";
  return s.enum ? s.enum.join(" | ") : s.format ? type + " (" + s.format + ")" : type;
}

// example builds a value that fits a schema; depth ends recursive ones.
function example(doc, s, depth) {
  if (!s || depth > 5) return null;
  if (s.$ref) return example(doc, doc.components.schemas[s.$ref.split("/").pop()], depth + 1);
  if (s.examples && s.examples.length) return s.examples[0];
  if (s.default !== undefined) return s.default;
  if (s.enum) return s.enum[0];
  if (s.anyOf) return example(doc, s.anyOf[0], depth + 1);
  const type = Array.isArray(s.type) ? s.type[0] : s.type;
  if (type === "object") {
    const out = {};
    for (const [k, v] of Object.entries(s.properties || {})) if (k !== "$schema") out[k] = example(doc, v, depth + 1);
    if (s.additionalProperties && typeof s.additionalProperties === "object") out.name = example(doc, s.additionalProperties, depth + 1);
    return out;
  }
  if (type === "array") return [example(doc, s.items, depth + 1)];
  return { integer: s.minimum || 0, number: 0, boolean: false, string: "" }[type] ?? null;
}

function body(doc, title, content) {
  return Object.entries(content || {}).map(([media, m]) => {
    const parts = [el("h4", {}, title + " ", el("span", { class: "dim" }, media + " " + name(doc, m.schema)))];
    if (m.schema && m.schema.format !== "binary") parts.push(el("pre", {}, JSON.stringify(example(doc, m.schema, 0), null, 2)));
    return parts;
  });
}

function operation(doc, path, method, op) {
  const rows = (op.parameters || []).map((p) =>
    el("tr", {}, el("td", {}, el("code", {}, p.name), p.required ? " *" : ""), el("td", { class: "dim" }, p.in), el("td", {}, name(doc, p.schema)),
      el("td", {}, p.description || (p.schema && p.schema.description) || "")));
  const statuses = Object.entries(op.responses || {});
  return el("details", { "data-find": (method + " " + path + " " + op.summary).toLowerCase(), id: op.operationId },
    el("summary", {}, el("span", { class: "method" }, method.toUpperCase()), el("span", { class: "path" }, path), " ", el("span", { class: "dim" }, op.summary || "")),
    el("div", { class: "inside" },
      el("p", {}, op.description || ""),
      rows.length ? el("table", {}, el("tbody", {}, rows)) : null,
      op.requestBody ? body(doc, "Body", op.requestBody.content) : null,
      statuses.filter(([s]) => s < "300").map(([s, r]) => body(doc, "Answer " + s, r.content)),
      el("p", { class: "dim" }, "May answer " + statuses.map(([s]) => s).join(", "))));
}

function draw(doc) {
  document.getElementById("about").textContent = doc.info.description + " Version " + doc.info.version + ". Paths begin with " + doc.servers[0].url + "; those of timers stand whole.";
  const tags = new Map();
  for (const [path, methods] of Object.entries(doc.paths))
    for (const [method, op] of Object.entries(methods)) {
      if (!op.operationId) continue;
      const tag = (op.tags || ["other"])[0];
      if (!tags.has(tag)) tags.set(tag, []);
      const below = methods.servers ? methods.servers[0].url.replace(/\/$/, "") : "";
      tags.get(tag).push(operation(doc, below + path, method, op));
    }
  for (const [tag, list] of tags) {
    document.getElementById("tags").append(el("a", { href: "#tag-" + tag }, tag));
    document.getElementById("operations").append(el("section", { id: "tag-" + tag }, el("h2", {}, tag), list));
  }
}

document.getElementById("filter").addEventListener("input", (e) => {
  const words = e.target.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const d of document.querySelectorAll("details")) d.hidden = !words.every((w) => d.dataset.find.includes(w));
});

fetch("openapi.json")
  .then((r) => r.json())
  .then(draw)
  .catch((err) => { document.getElementById("about").textContent = "The document could not be read: " + err; });
