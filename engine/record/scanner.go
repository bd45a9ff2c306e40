package record

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
	"unique"
)

// A scanner reads the JSON that planrun writes most of: objects of objects of numbers. What it does not understand it refuses,
// and package json is asked instead; it never takes what that would refuse.
type scanner struct {
	b     []byte
	block []float64 // room for lists
	known
}

// known is what one text teaches about the next.
type known struct {
	names  names
	sizes  map[string]int      // window of a cell -> its metrics
	tables map[string][]string // window of a run -> names of its metrics
}

var learned = sync.Pool{New: func() any { return known{names{}, map[string]int{}, map[string][]string{}} }}

// names gives each name that is read one string, which all runs and cells share.
type names map[string]string

func (n names) of(b []byte) string {
	s, ok := n[string(b)]
	if !ok {
		s = unique.Make(string(b)).Value()
		n[s] = s
	}
	return s
}

// scan lets f read text.
func scan(text []byte, f func(*scanner) bool) bool {
	k := learned.Get()
	defer learned.Put(k)
	return f(&scanner{b: text, known: k.(known)})
}

// space skips white space.
func (s *scanner) space() {
	for len(s.b) > 0 && (s.b[0] == ' ' || s.b[0] == '\n' || s.b[0] == '\t' || s.b[0] == '\r') {
		s.b = s.b[1:]
	}
}

// next skips white space, and c if it comes next.
func (s *scanner) next(c byte) bool {
	s.space()
	if len(s.b) == 0 || s.b[0] != c {
		return false
	}
	s.b = s.b[1:]
	return true
}

// text is a string without escapes.
func (s *scanner) text() (string, bool) {
	if !s.next('"') {
		return "", false
	}
	i := bytes.IndexByte(s.b, '"')
	if i < 0 || !plain(s.b[:i]) {
		return "", false
	}
	name := s.names.of(s.b[:i])
	s.b = s.b[i+1:]
	return name, true
}

// plain reports whether a text stands in JSON as it is.
func plain(b []byte) bool {
	ascii := true
	for _, c := range b {
		if c < ' ' || c == '\\' {
			return false
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	return ascii || utf8.Valid(b)
}

// members calls each for each member of an object, after its key.
func (s *scanner) members(each func(key string) bool) bool {
	if !s.next('{') {
		return false
	}
	if s.next('}') {
		return true
	}
	for {
		key, ok := s.text()
		if !ok || !s.next(':') || !each(key) {
			return false
		}
		if s.next('}') {
			return true
		}
		if !s.next(',') {
			return false
		}
	}
}

// count is how often c stands in an object that holds no other.
func (s *scanner) count(c byte) int {
	return bytes.Count(s.b[:max(0, bytes.IndexByte(s.b, '}'))], []byte{c})
}

// number is one as JSON has it.
func (s *scanner) number() (float64, bool) {
	s.space()
	b, i := s.b, 0
	digits := func() bool {
		from := i
		for i < len(b) && b[i] >= '0' && b[i] <= '9' {
			i++
		}
		return i > from
	}
	is := func(chars string) bool {
		ok := i < len(b) && strings.IndexByte(chars, b[i]) >= 0
		if ok {
			i++
		}
		return ok
	}
	is("-")
	if !is("0") && !digits() || is(".") && !digits() {
		return 0, false
	}
	if is("eE") {
		is("+-")
		if !digits() {
			return 0, false
		}
	}
	v, err := strconv.ParseFloat(string(b[:i]), 64)
	s.b = b[i:]
	return v, err == nil
}

// numbers are a list of them.
func (s *scanner) numbers() ([]float64, bool) {
	if !s.next('[') {
		return nil, false
	}
	if s.next(']') {
		return []float64{}, true
	}
	from := len(s.block)
	for {
		v, ok := s.number()
		if !ok {
			return nil, false
		}
		if len(s.block) == cap(s.block) { // what was read of this list moves to a new block
			block := make([]float64, 0, max(blockSize, 2*(len(s.block)-from)))
			s.block, from = append(block, s.block[from:]...), 0
		}
		s.block = append(s.block, v)
		if s.next(']') {
			return slices.Clip(s.block[from:]), true
		}
		if !s.next(',') {
			return nil, false
		}
	}
}

// blockSize is how many numbers of lists are allocated at once.
const blockSize = 1 << 10

// pass skips a value of any kind, which may be none.
func (s *scanner) pass() bool {
	s.space()
	depth := 0
	for i := 0; i < len(s.b); i++ {
		switch s.b[i] {
		case '"':
			n := quoted(s.b[i:])
			if n == 0 {
				return false
			}
			i += n - 1
		case '{', '[':
			depth++
			continue
		case '}', ']':
			if depth > 0 {
				depth--
			} else { // of what the value stands in
				s.b = s.b[i:]
				return i > 0
			}
		case ',':
			if depth == 0 {
				s.b = s.b[i:]
				return i > 0
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			s.b = s.b[i+1:]
			return true
		}
	}
	return false
}

// quoted is how many bytes a string takes that b begins with; 0 if it does not end.
func quoted(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}

// apart divides an object into the value of one of its members, which read reads, and what is left without it.
func apart(text []byte, member string, read func(*scanner) bool) (rest []byte, ok bool) {
	found := false
	whole := scan(text, func(s *scanner) bool {
		return s.members(func(key string) bool {
			if key != member {
				return s.pass()
			}
			if found { // the last one would count
				return false
			}
			found = true
			from := len(text) - len(s.b)
			if !read(s) {
				return false
			}
			rest = slices.Concat(text[:from], []byte("null"), s.b)
			return true
		})
	})
	return rest, whole && found
}
