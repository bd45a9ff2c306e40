package engine

import (
	"fmt"
	"path/filepath"
	"strings"
)

// sourceNames gives each source file a name of its own in the result set's sources, in the order in which they were read:
// 00-round2.yaml, 01-ingress-scenarios.yaml. What is no file (the value of a --set) has none.
func sourceNames(files []string) map[string]string {
	out := map[string]string{}
	for i, f := range files {
		if strings.HasPrefix(f, "--") {
			continue
		}
		out[f] = fmt.Sprintf("%02d-%s", i, filepath.Base(f))
	}
	return out
}
