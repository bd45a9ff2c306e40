package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	json2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	json1 "github.com/go-json-experiment/json/v1"
)

// alike makes version 2 of package json, which is faster, read and write as package json does.
var alike = json1.DefaultOptionsV1()

// decode is json.Unmarshal in a part of its time. Text that is wrong is left to package json, for its errors are known by their
// types.
func decode(text []byte, v any) error { return decodeBy(alike, text, v) }

// decodeBy is decode with the options of a reader.
func decodeBy(opt json2.Options, text []byte, v any) error {
	if json2.Unmarshal(text, v, opt) == nil {
		return nil
	}
	return json.Unmarshal(text, v)
}

// decodeNext decodes the next value of a stream, by its options.
func decodeNext(d *jsontext.Decoder, v any) error { return json2.UnmarshalDecode(d, v) }

// foreign says what is wrong with JSON that holds something else than planrun writes, and where; nil if nothing is.
func foreign(text []byte, err error) error {
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil && string(bytes.TrimSpace(text)) == "null":
		return errors.New("it holds null and nothing else; put back the file that planrun wrote")
	case !errors.As(err, &wrong):
		return err
	case wrong.Field == "":
		return fmt.Errorf("it holds JSON of another kind (%s); put back the file that planrun wrote", wrong.Value)
	}
	return fmt.Errorf("what %s holds up to byte %d is of another kind (%s); put back the file that planrun wrote", wrong.Field, wrong.Offset, wrong.Value)
}

// encode is json.Marshal in a part of its time.
func encode(v any) ([]byte, error) { return json2.Marshal(v, alike) }
