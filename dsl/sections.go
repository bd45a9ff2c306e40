package dsl

import "strings"

// sections reports the top level keys of a file that are typing errors, and gives what it likely means: the rest of the plan
// is read by that, because whatever refers to a section that seems not to be there would be a problem too.
func (ld *loader) sections(n *node) *node {
	if n == nil {
		return nil
	}
	if done := ld.meant[n]; done != nil {
		return done
	}
	s := structOf(typePlan)
	d := &decoder{l: ld.l, probs: &ld.probs}
	fields := make([]nodeField, 0, len(n.fields))
	for _, e := range n.fields {
		near := nearest(e.key.text, s.keys())
		if s.byKey[e.key.text] == nil && !strings.HasPrefix(e.key.text, "x-") && near != "" && n.get(near) == nil {
			meant := d.unknownKey(e.key, s, &field{when: TimePlan})
			if meant == "" {
				continue // it belongs elsewhere
			}
			key := *e.key
			key.text = meant
			e.key = &key
		}
		fields = append(fields, e)
	}
	ld.meant[n] = n.withFields(fields)
	return ld.meant[n]
}
