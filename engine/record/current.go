package record

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
)

// Current reports whether results were made of the runs that are there, as they are now. Times of files say nothing of it: a
// copy of a set has others, and what is put in a run's place may be older than the results. It reads tens of kilobytes a run,
// several at once, and decodes nothing; of results without a digest, which an older planrun wrote, it reads nothing.
func (s *Set) Current(r *Results) bool {
	if r.RunsSHA256 == "" {
		return false
	}
	ids, err := s.RunIDs()
	if err != nil {
		return false
	}
	var d digest
	for sum := range inOrder(len(ids), func(i int) []byte { return fileSum(s.Path("runs", ids[i], "run.json")) }) {
		d.add(ids[len(d.ids)], sum)
	}
	return r.RunsSHA256 == d.String()
}

// Digest is that of the names and the run.json of runs as they were when they were read, in the order of the set; "" if one
// could not be read whole: what is made of these is made again each time.
func Digest(runs []*Run) string {
	var d digest
	for _, r := range runs {
		d.add(r.ID, r.sum)
	}
	return d.String()
}

// A digest is of the sums of runs, and of their names.
type digest struct {
	sums    []byte
	ids     []string
	missing bool
}

// add adds a run; nil is the sum of one that was not read.
func (d *digest) add(id string, sum []byte) {
	d.sums, d.ids, d.missing = append(d.sums, sum...), append(d.ids, id), d.missing || sum == nil
}

func (d *digest) String() string {
	if d.missing {
		return ""
	}
	all := sha256.New()
	all.Write(d.sums)
	for _, id := range d.ids {
		fmt.Fprintf(all, "%q", id)
	}
	return hex.EncodeToString(all.Sum(nil))
}

// fileSum is the digest of a file; nil if it cannot be read.
func fileSum(path string) []byte {
	f, err := openFile(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return nil
	}
	return sum.Sum(nil)
}
