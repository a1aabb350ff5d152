package dag

import (
	"encoding/json"

	"github.com/porpoise/porpoise/dag/document"
)

// schemaID names the schema; it is no address, every apiserver serves it itself.
const schemaID = "urn:porpoise:workflow"

// Schema returns the JSON Schema (2020-12) of a definition, generated from the very
// types and tags that Parse reads with. It is never stricter than Parse; what only a
// look at the whole document can tell (names that link, circles) is not in it.
func Schema() []byte {
	s := document.SchemaOf(workflowText{}, schemaID, "Porpoise workflow")
	properties := s["properties"].(map[string]any)
	name := properties["name"].(document.Schema)
	name["pattern"], name["maxLength"] = namePattern, MaxName
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic("dag: encode the schema: " + err.Error()) // our own types hold nothing that JSON has not
	}
	return append(text, '\n')
}
