package record

import (
	"encoding/json"

	fast "github.com/goccy/go-json"
)

// decode is json.Unmarshal in a part of its time. Text that is wrong is left to package json, for its errors are known by their
// types.
func decode(text []byte, v any) error {
	if fast.Unmarshal(text, v) == nil {
		return nil
	}
	return json.Unmarshal(text, v)
}

// encode is json.Marshal in a part of its time.
func encode(v any) ([]byte, error) { return fast.Marshal(v) }
