package origin

import (
	"bytes"
	"strconv"
	"time"
)

// class is the kind of path that a request is for.
type class uint8

const (
	other class = iota // no such path
	small
	hundred
	sized
	pieces
	delayed
	stalled
	resets
	status
	upload
	refused // not a request that the server understands
	classes
)

// names are how the classes are called in samples.
var names = [classes]string{
	other: "other", small: "small", hundred: "100k", sized: "bytes", pieces: "chunked", delayed: "delay",
	stalled: "stall", resets: "reset", status: "status", upload: "upload", refused: "refused",
}

// MaxDelay bounds /delay/DURATION.
const MaxDelay = time.Hour

// A route is what is asked for.
type route struct {
	class class
	n     int64 // bytes, nanoseconds or the status code
}

// routeOf reads the path of a request; a query is passed over. A path whose number is out of range is no path.
func routeOf(target []byte) route {
	if string(target) == "/small" {
		return route{class: small}
	}
	path, _, _ := bytes.Cut(target, []byte{'?'})
	switch string(path) {
	case "/small":
		return route{class: small}
	case "/100k":
		return route{class: hundred}
	case "/stall":
		return route{class: stalled}
	case "/upload":
		return route{class: upload}
	}
	if len(path) == 0 {
		return route{}
	}
	kind, argument, ok := bytes.Cut(path[1:], []byte{'/'})
	if !ok {
		return route{}
	}
	switch string(kind) {
	case "bytes":
		return number(sized, argument, 0, 1<<50)
	case "chunked":
		return number(pieces, argument, 0, 1<<50)
	case "reset":
		return number(resets, argument, 0, 1<<50)
	case "status":
		return number(status, argument, 200, 599)
	case "delay":
		if d, err := time.ParseDuration(string(argument)); err == nil && d >= 0 && d <= MaxDelay {
			return route{delayed, int64(d)}
		}
	}
	return route{}
}

func number(c class, argument []byte, least, most int64) route {
	n, err := strconv.ParseInt(string(argument), 10, 64)
	if err != nil || n < least || n > most || argument[0] == '+' || argument[0] == '-' {
		return route{}
	}
	return route{c, n}
}
