package trial

import (
	"encoding/json"

	"github.com/porpoise/porpoise/dag/document"
)

// Schema returns the JSON Schema (2020-12) of a file with cases, generated from the very types and tags
// that Read reads with. What only a look at the workflow can tell is not in it.
func Schema() []byte {
	text, err := json.MarshalIndent(document.SchemaOf(suiteText{}, "urn:porpoise:cases", "Cases of a Porpoise workflow"), "", "  ")
	if err != nil {
		panic("trial: encode the schema: " + err.Error()) // our own types hold nothing that JSON has not
	}
	return append(text, '\n')
}
