package sql

import (
	"encoding/json"
	"fmt"

	"github.com/porpoise/porpoise/dag"
)

// encodeMap is the JSON of m with its keys in order; "" for an empty one, which is most of them.
func encodeMap(m map[string]string) string {
	if len(m) == 0 {
		return ""
	}
	text, err := json.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("sql: strings have no JSON: %v", err))
	}
	return string(text)
}

func decodeMap(text string) (map[string]string, error) {
	if text == "" {
		return nil, nil
	}
	var m map[string]string
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		return nil, fmt.Errorf("decode a map of strings: %w", err)
	}
	return m, nil
}

func encodeList(l []string) string {
	if len(l) == 0 {
		return ""
	}
	text, err := json.Marshal(l)
	if err != nil {
		panic(fmt.Sprintf("sql: strings have no JSON: %v", err))
	}
	return string(text)
}

func decodeList(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	var l []string
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		return nil, fmt.Errorf("decode a list of strings: %w", err)
	}
	return l, nil
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// orNow is at, or now where the caller gave no time.
func orNow(at, now dag.Millis) dag.Millis {
	if at == 0 {
		return now
	}
	return at
}
