package load

import "crypto/tls"

// tlsGroups are the key exchange groups by the names that plans use (NIST's for its curves, where Go has others).
var tlsGroups = []struct {
	name string
	id   tls.CurveID
}{
	{"X25519", tls.X25519}, {"P-256", tls.CurveP256}, {"P-384", tls.CurveP384}, {"P-521", tls.CurveP521}, {"X25519MLKEM768", tls.X25519MLKEM768},
}

// TLSGroupNames are the groups that Spec.TLSGroups may name.
func TLSGroupNames() (names []string) {
	for _, g := range tlsGroups {
		names = append(names, g.name)
	}
	return names
}

// groupID is the group of a name; false if there is none.
func groupID(name string) (tls.CurveID, bool) {
	for _, g := range tlsGroups {
		if g.name == name {
			return g.id, true
		}
	}
	return 0, false
}

// groupName is the name of a group; Go's own if plans have none for it.
func groupName(id tls.CurveID) string {
	for _, g := range tlsGroups {
		if g.id == id {
			return g.name
		}
	}
	return id.String()
}
