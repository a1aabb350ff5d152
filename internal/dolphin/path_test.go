package dolphin_test

import (
	"strconv"
	"strings"

	"github.com/porpoise/porpoise/dag/document"
)

// exists follows a path such as [0].taskDefinitionList[2].name. Below a text that holds JSON
// the path ends at the text.
func exists(root *document.Node, path string) bool {
	n := root
	path = strings.ReplaceAll(path, "[", ".[")
	for part := range strings.SplitSeq(strings.TrimPrefix(path, "."), ".") {
		if n.Kind == document.String {
			return true
		}
		if index, ok := strings.CutPrefix(part, "["); ok {
			i, err := strconv.Atoi(strings.TrimSuffix(index, "]"))
			if err != nil || n.Kind != document.List || i >= len(n.Items) {
				return false
			}
			n = &n.Items[i]
			continue
		}
		if n = n.Get(part); n == nil {
			return false
		}
	}
	return true
}
