package probes

import "errors"

// said remembers what a probe has complained about, so that each reason is reported once.
type said map[string]bool

// once gives the error unless one of this reason was given before, in whatever words.
func (s *said) once(reason string, err error) error {
	if s.first(errors.New(reason)) == nil {
		return nil
	}
	return err
}

// first gives those of errs that were not given before, joined; nil if there are none.
func (s *said) first(errs ...error) error {
	var fresh []error
	for _, err := range errs {
		if err == nil || (*s)[err.Error()] {
			continue
		}
		if *s == nil {
			*s = make(said)
		}
		(*s)[err.Error()] = true
		fresh = append(fresh, err)
	}
	return errors.Join(fresh...)
}
