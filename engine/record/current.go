package record

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
)

// Current reports whether results were made of the runs that are there, as they are now. Times of files say nothing of it: a
// copy of a set has others, and what is put in a run's place may be older than the results.
func (s *Set) Current(r *Results) bool {
	return r.RunsSHA256 != "" && r.RunsSHA256 == s.runsDigest()
}

// runsDigest is that of the names and the run.json of all runs, in order; "" if one is gone or cut short: what is made of
// these is made again each time. It reads tens of kilobytes a run, several at once, and decodes nothing.
func (s *Set) runsDigest() string {
	ids, err := s.RunIDs()
	if err != nil {
		return ""
	}
	all := sha256.New()
	for sum := range inOrder(len(ids), func(i int) []byte { return wholeSum(s.Path("runs", ids[i], "run.json")) }) {
		if sum == nil {
			return ""
		}
		all.Write(sum)
	}
	for _, id := range ids {
		fmt.Fprintf(all, "%q", id)
	}
	return hex.EncodeToString(all.Sum(nil))
}

// wholeSum is the digest of a file that ends as planrun ends a run.json; nil if it does not, or cannot be read.
func wholeSum(path string) []byte {
	f, err := openFile(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil || !ends(f, "}\n") {
		return nil
	}
	return sum.Sum(nil)
}

func ends(f *os.File, end string) bool {
	info, err := f.Stat()
	if err != nil || info.Size() < int64(len(end)) {
		return false
	}
	b := make([]byte, len(end))
	_, err = f.ReadAt(b, info.Size()-int64(len(end)))
	return err == nil && string(b) == end
}
