package verdict

// Outcome of a verdict.
type Outcome string

const (
	Pass         Outcome = "pass"
	Fail         Outcome = "fail"
	Inconclusive Outcome = "inconclusive"
	NotSupported Outcome = "unsupported"
	Errored      Outcome = "error"
	NotJudged    Outcome = "not judged" // its `when` is false
)

// outcomeOf is what a missing value makes of a verdict.
func outcomeOf(r *Reason) Outcome {
	switch r.Cause {
	case Unsupported:
		return NotSupported
	case Broken:
		return Errored
	}
	return Inconclusive
}
