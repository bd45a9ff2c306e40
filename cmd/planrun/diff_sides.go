package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/diff"
	"github.com/planrun/planrun/internal/plural"
)

// twoSides opens what the arguments name: two result sets, or a target of each; or several sets of the same thing a side.
func twoSides(args []string) (a, b *diff.Set, err error) {
	if len(args) != 2 {
		return nil, nil, fmt.Errorf("diff compares two sides: planrun diff A B, or, of several sets each, planrun diff A,A2 B,B2; there %s", are(len(args), "argument"))
	}
	if a, err = oneSide(args[0]); err != nil {
		return nil, nil, err
	}
	if b, err = oneSide(args[1]); err != nil {
		return nil, nil, err
	}
	if (a.Target == "") != (b.Target == "") {
		return nil, nil, fmt.Errorf("one side names a target, the other does not; name one on both: %s:TARGET %s:TARGET", a.Name, b.Name)
	}
	return a, b, nil
}

// oneSide opens the sets of a side. A directory that is there may have a comma in its name.
func oneSide(arg string) (first *diff.Set, err error) {
	if arg == "" {
		return nil, errors.New("an argument is empty; planrun diff A B names two result sets")
	}
	names := []string{arg}
	if _, err := os.Stat(arg); err != nil {
		names = strings.Split(arg, ",")
	}
	for _, name := range names {
		if name == "" {
			return nil, fmt.Errorf("%s: there is no result set before or behind a comma", arg)
		}
		set, err := openSide(name)
		switch {
		case err != nil:
			return nil, err
		case first == nil:
			first = set
			continue
		case set.Target != first.Target:
			return nil, fmt.Errorf("%s: the sets of a side are of one target; name it with each of them: %s:TARGET,%s:TARGET", arg, first.Name, set.Name)
		}
		first.More = append(first.More, set)
	}
	for _, set := range append([]*diff.Set{first}, first.More...) {
		if len(first.More) > 0 && set.Environment != nil && set.Environment.Imported != nil {
			return nil, fmt.Errorf("%s has figures that others published; a side of several sets is of measured ones", set.Name)
		}
	}
	return first, nil
}

// openSide opens DIR or DIR:TARGET.
func openSide(name string) (*diff.Set, error) {
	dir, target := named(name)
	if target == "" && dir != name {
		return nil, fmt.Errorf("%s names no target behind its colon; leave the colon out to compare all of them", name)
	}
	dir, err := oneSet([]string{filepath.Clean(dir)})
	if err != nil {
		return nil, err
	}
	set, err := diff.Open(dir, diff.Options{Name: dir, Target: target, Tree: dsl.Tree})
	var none *diff.NoTarget
	if errors.As(err, &none) {
		return nil, fmt.Errorf("%w; %s", err, dsl.Suggest(none.Target, none.Known, "there are"))
	}
	return set, err
}

// named splits DIR:TARGET at the first colon before which a directory stands, because a target may have one in its name; where
// none does, at the last one.
func named(arg string) (dir, target string) {
	if _, err := os.Stat(arg); err == nil {
		return arg, ""
	}
	dir = arg
	for at, r := range arg {
		if r != ':' || at == 0 {
			continue
		}
		dir, target = arg[:at], arg[at+1:]
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			break
		}
	}
	return dir, target
}

func are(n int, what string) string {
	return plural.Verb(n, "is ", "are ") + plural.Of(n, what)
}
