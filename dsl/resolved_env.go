package dsl

import (
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// given writes what an environment variable gave to a param as its value, with where it came from: what is read again
// depends on no environment. It is read as ScalarValue reads it, and never as an expression.
func given(param *yaml.Node, variable, text string) {
	if param == nil || !utf8.ValidString(text) { // YAML cannot hold other bytes: the engine warns of it
		return
	}
	var rest []*yaml.Node
	for i := 0; i+1 < len(param.Content); i += 2 {
		if key := param.Content[i].Value; key != "env" && key != "value" {
			rest = append(rest, param.Content[i], param.Content[i+1])
		}
	}
	value := &yaml.Node{Kind: yaml.ScalarNode, Value: strings.ReplaceAll(text, "${{", "${{ '$' + '{{' }}"), LineComment: "from the environment variable " + variable}
	if _, plain := ScalarValue(text).(string); plain {
		value.Style = yaml.DoubleQuotedStyle
	}
	param.Content = append([]*yaml.Node{{Kind: yaml.ScalarNode, Value: "value"}, value}, rest...)
}

// below is the value under a key of a mapping; nil if there is none.
func below(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n != nil && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}
