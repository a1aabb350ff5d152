// Package document reads what people write: YAML or JSON text becomes one tree of
// nodes that know their line and column, and the tree becomes Go structs by their
// tags, with every wrong field reported at once. The same tags give the JSON Schema,
// so that what the editor promises and what the server takes cannot part.
//
// It is strict: duplicate keys, unknown keys, trailing data, anchors, aliases, tags
// and numbers that do not fit are errors, never guesses. It knows nothing of
// workflows, does no I/O and keeps no state. Package dag uses it for definitions.
package document
