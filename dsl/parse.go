package dsl

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/planrun/planrun/dsl/diag"
)

// Bounds on what is parsed, so that a hostile file is an error and not a long wait.
const (
	MaxBytes = 8 << 20 // of a file, also of one that dsl.ReadFile reads for somebody else
	maxNodes = 500_000 // of a file, aliases counted each time they are used
	maxDepth = 100     // of nesting
)

// parse makes nodes of a source. It returns nil if there is nothing to go on with.
func parse(src *source, probs *diag.List) *node {
	start := diag.Pos{File: src.name, Line: 1, Col: 1}
	if len(src.bytes) > MaxBytes {
		probs.Addf(start, "the file has %d bytes", len(src.bytes)).Hint = fmt.Sprintf("a plan may have %d; include files instead", MaxBytes)
		return nil
	}
	docs, err := parseYAML(src.bytes)
	if err != nil {
		*probs = append(*probs, syntaxProblem(src, err))
	}
	if len(docs) == 0 {
		return nil
	}
	if len(docs) > 1 {
		probs.Addf(diag.Pos{File: src.name, Line: docs[1].Line, Col: docs[1].Column}, "a second document in the file").Hint = "a file holds one document; include another file instead"
	}
	c := &converter{src: src, probs: probs, done: map[*yaml.Node]*node{}, open: map[*yaml.Node]bool{}}
	return c.node(docs[0], 0)
}

// parseYAML returns the root nodes of the first two documents.
func parseYAML(b []byte) (docs []*yaml.Node, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("yaml: %v", p)
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(b))
	for range 2 {
		var doc yaml.Node
		if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
			return docs, nil
		} else if err != nil {
			return docs, err
		}
		if len(doc.Content) > 0 {
			docs = append(docs, doc.Content[0])
		}
	}
	return docs, nil
}

// A converter makes our nodes of YAML's, and reports what YAML allows and plans do not.
type converter struct {
	src     *source
	probs   *diag.List
	done    map[*yaml.Node]*node // anchored nodes are converted once and shared
	open    map[*yaml.Node]bool  // being converted: an alias to one of these is a cycle
	tooMuch bool
}

func (c *converter) pos(y *yaml.Node) diag.Pos {
	return diag.Pos{File: c.src.name, Line: y.Line, Col: y.Column}
}

func (c *converter) node(y *yaml.Node, depth int) *node {
	n := &node{src: c.src, line: y.Line, col: y.Column, style: y.Style, kind: nullNode, size: 1}
	if c.tooMuch {
		return n
	}
	if depth > maxDepth {
		c.probs.Addf(c.pos(y), "nested more than %d deep", maxDepth).Hint = "plans are flat"
		c.tooMuch = true
		return n
	}
	if y.Kind == yaml.AliasNode {
		return c.alias(y, depth)
	}
	if done := c.done[y]; done != nil {
		return done
	}
	c.open[y] = true
	c.tag(y)
	switch y.Kind {
	case yaml.ScalarNode:
		c.scalar(n, y)
	case yaml.SequenceNode:
		n.kind = listNode
		for _, it := range y.Content {
			n.items = append(n.items, c.node(it, depth+1))
		}
		c.splitItems(n, y)
	case yaml.MappingNode:
		n.kind = mapNode
		c.fields(n, y, depth)
	}
	n.sum()
	if n.size > maxNodes && !c.tooMuch {
		c.probs.Addf(c.pos(y), "more than %d values, aliases counted each time", maxNodes).Hint = "use fewer aliases"
		c.tooMuch = true
	}
	delete(c.open, y)
	if y.Anchor != "" {
		c.done[y] = n
	}
	return n
}

func (c *converter) alias(y *yaml.Node, depth int) *node {
	if c.open[y.Alias] {
		c.probs.Addf(c.pos(y), "*%s is inside what &%s names", y.Value, y.Value).Hint = "an alias cannot hold itself"
		return &node{src: c.src, line: y.Line, col: y.Column, kind: nullNode, gone: true, size: 1}
	}
	return c.node(y.Alias, depth)
}

func (c *converter) scalar(n *node, y *yaml.Node) {
	n.text = y.Value
	if y.Tag == "!!null" && y.Style&^yaml.TaggedStyle == 0 {
		return
	}
	n.kind = scalarNode
	n.quoted = y.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 || y.Style&yaml.TaggedStyle != 0 && y.Tag == "!!str"
	spans, at, err := scanHoles(n.text)
	if err != nil {
		c.probs.Addf(n.posIn(at), "%v", err).Hint = "an expression is written ${{ ... }}"
	}
	n.holes = spans
	if y.Style&yaml.FoldedStyle != 0 || n.style == 0 && len(spans) > 0 {
		for _, s := range spans {
			c.comment(n, s.text, s.start)
		}
	}
}

// comment warns of a // comment in CEL whose lines YAML folds into one.
func (c *converter) comment(n *node, cel string, start int) {
	warnComment(c.probs, n, cel, start)
}

// warnComment warns of a // comment in CEL whose lines YAML folds into one: it swallows all that follows.
func warnComment(probs *diag.List, n *node, cel string, start int) {
	at := commentAt(cel)
	if at < 0 || n.filled || n.style&yaml.LiteralStyle != 0 || strings.Contains(cel[min(at, len(cel)):], "\n") {
		return
	}
	if rest := n.posIn(start + len([]rune(cel))); n.style&yaml.FoldedStyle == 0 && rest.Line == n.posIn(start+at).Line {
		return // nothing follows on another line
	}
	p := probs.Addf(n.posIn(start+at), "// comments out the rest of the expression, because YAML folds its lines into one")
	p.Hint, p.Warning = "write the text as a literal block (|)", true
}

// tag refuses tags: a plan needs none, and !x is what YAML makes of an expression that begins with "not".
func (c *converter) tag(y *yaml.Node) {
	if y.Style&yaml.TaggedStyle == 0 || y.Tag == "!!str" {
		return
	}
	tag := strings.TrimPrefix(y.Tag, "tag:yaml.org,2002:")
	p := c.probs.Addf(c.pos(y), "%s is a tag to YAML", tag)
	if strings.HasPrefix(tag, "!!") {
		p.Hint = "leave it out: the field says its type"
		return
	}
	p.Hint = "quote the expression: '" + strings.TrimSpace(tag+" "+y.Value) + "'"
}

func (c *converter) fields(n *node, y *yaml.Node, depth int) {
	seen := map[string]diag.Pos{}
	var merges []*node
	for i := 0; i+1 < len(y.Content); i += 2 {
		k, v := y.Content[i], y.Content[i+1]
		if k.Tag == "!!merge" && k.Style == 0 {
			merges = append(merges, c.merges(v, depth)...)
			continue
		}
		if k.Kind == yaml.AliasNode {
			k = k.Alias
		}
		if k.Kind != yaml.ScalarNode {
			c.probs.Addf(c.pos(k), "a key that is no text").Hint = "an expression in braces needs quotes: \"${{ ... }}\""
			continue
		}
		key := &node{kind: scalarNode, src: c.src, line: y.Content[i].Line, col: y.Content[i].Column, text: k.Value, style: k.Style, size: 1}
		if strings.Contains(key.text, "${{") {
			c.probs.Addf(key.pos(), "an expression in a key").Hint = "expressions stand in values; write the key itself"
		}
		if before, dup := seen[key.text]; dup {
			c.probs.Addf(key.pos(), "key %q appears twice", key.text).Hint = fmt.Sprintf("it is on line %d already; remove one", before.Line)
			continue
		}
		seen[key.text] = key.pos()
		if y.Style&yaml.FlowStyle != 0 && c.splitByComma(n, key, v) {
			continue
		}
		n.fields = append(n.fields, nodeField{key, c.node(v, depth+1)})
	}
	for _, m := range merges {
		for _, f := range m.fields {
			if _, has := seen[f.key.text]; !has {
				seen[f.key.text] = f.key.pos()
				n.fields = append(n.fields, f)
			}
		}
	}
}

// splitByComma recognizes what YAML makes of {when: max(a, b) > 1}: a key "b) > 1" without a value.
func (c *converter) splitByComma(n, key *node, v *yaml.Node) bool {
	if v.Tag != "!!null" || v.Value != "" || len(n.fields) == 0 {
		return false
	}
	last := n.fields[len(n.fields)-1]
	if last.val.kind != scalarNode || last.val.quoted || !unbalanced(last.val.text) {
		return false
	}
	c.probs.Addf(last.val.pos(), "the comma in %s ends the text, because it stands unquoted inside { }", quote(last.val.text+", "+key.text)).Hint = "quote the expression"
	return true
}

// splitItems recognizes what YAML makes of [max(a, b)]: two items.
func (c *converter) splitItems(n *node, y *yaml.Node) {
	if y.Style&yaml.FlowStyle == 0 {
		return
	}
	for i := 0; i+1 < len(n.items); i++ {
		a, b := n.items[i], n.items[i+1]
		if a.kind == scalarNode && b.kind == scalarNode && !a.quoted && !b.quoted && unbalanced(a.text) && !unbalanced(a.text+", "+b.text) {
			c.probs.Addf(a.pos(), "the comma in %s ends the text, because it stands unquoted inside [ ]", quote(a.text+", "+b.text)).Hint = "quote the expression"
		}
	}
}

// merges returns the mappings of a << key. They are not merged deeply: that is YAML's rule.
func (c *converter) merges(y *yaml.Node, depth int) []*node {
	m := c.node(y, depth+1)
	switch {
	case m.kind == mapNode:
		return []*node{m}
	case m.kind == listNode && len(m.items) > 0:
		for _, it := range m.items {
			if it.kind != mapNode {
				c.probs.Addf(it.pos(), "<< wants mappings, have %s", it.describe()).Hint = "write << : [*a, *b]"
				return nil
			}
		}
		return m.items
	case !m.gone:
		c.probs.Addf(c.pos(y), "<< wants a mapping, have %s", m.describe()).Hint = "write <<: *anchor"
	}
	return nil
}
