package record

import (
	"bytes"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/planrun/planrun/internal/hdr"
	"github.com/planrun/planrun/internal/load"
)

// The histograms of a second, as the last part of a tag names them.
var whats = []string{"latency", "service", "lag", "connect", "tls"}

func histogram(s *load.Second, what string) **hdr.Histogram {
	switch what {
	case "latency":
		return &s.Latency
	case "service":
		return &s.Service
	case "lag":
		return &s.Lag
	case "connect":
		return &s.Connect
	case "tls":
		return &s.TLS
	}
	return nil
}

// tag is LOAD/PHASE/WHAT; names are escaped as in the path of a URL, because a tag may hold no space or comma.
func tag(s *load.Second, what string) string {
	return url.PathEscape(s.Load) + "/" + url.PathEscape(s.Phase) + "/" + what
}

// hlogHead begins a log: times in it are seconds since the start of the run.
func hlogHead(start time.Time) []byte {
	var b bytes.Buffer
	w := hdrhistogram.NewHistogramLogWriter(&b)
	// Writes to a buffer cannot fail. The library's own methods for the two times drop their milliseconds.
	_ = w.OutputLogFormatVersion()
	at := float64(start.UnixMilli()) / 1000
	_ = w.OutputComment(fmt.Sprintf("[BaseTime: %.3f (seconds since epoch)]", at))
	_ = w.OutputComment(fmt.Sprintf("[StartTime: %.3f (seconds since epoch), %s]", at, start.UTC().Format(time.RFC3339)))
	_ = w.OutputComment("values are nanoseconds; the maximum of an interval is in milliseconds")
	_ = w.OutputLegend()
	return b.Bytes()
}

// hlogLine is the line of one histogram of a second that began at milliseconds since the start of the run.
func hlogLine(name string, h *hdr.Histogram, at int64) ([]byte, error) {
	raw := h.Raw()
	raw.SetTag(name)
	raw.SetStartTimeMs(at)
	raw.SetEndTimeMs(at + 1000)
	var b bytes.Buffer
	if err := hdrhistogram.NewHistogramLogWriter(&b).OutputIntervalHistogram(raw); err != nil {
		return nil, fmt.Errorf("encoding a histogram: %w", err)
	}
	return b.Bytes(), nil
}

// An hlogKey finds the histogram of a second.
type hlogKey struct {
	tag string
	at  int64 // milliseconds since the start of the run
}

// maxPayload bounds one encoded histogram, in bytes. Ours take a few kilobytes; a full one takes some hundred.
const maxPayload = 4 << 20

// parseHlog reads one line; ok is false for comments, the legend and histograms that are not wanted.
func parseHlog(line []byte, wanted []string) (key hlogKey, h *hdrhistogram.PackedHistogram, ok bool, err error) {
	text := string(line)
	if text == "" || text[0] == '#' || text[0] == '"' {
		return key, nil, false, nil
	}
	rest, tagged := strings.CutPrefix(text, "Tag=")
	if tagged {
		key.tag, rest, _ = strings.Cut(rest, ",")
	}
	if what := key.tag[strings.LastIndexByte(key.tag, '/')+1:]; slices.Contains(whats, what) && !slices.Contains(wanted, what) {
		return key, nil, false, nil
	}
	fields := strings.SplitN(rest, ",", 4)
	if len(fields) != 4 {
		return key, nil, false, fmt.Errorf("it has %d of 4 fields", len(fields))
	}
	start, err := strconv.ParseFloat(fields[0], 64)
	if err != nil || !finite(start) || math.Abs(start) > 1e12 {
		return key, nil, false, fmt.Errorf("its time %.20q is no number", fields[0])
	}
	key.at = int64(math.Round(start * 1000))
	if len(fields[3]) > maxPayload {
		return key, nil, false, fmt.Errorf("its histogram is %d bytes long", len(fields[3]))
	}
	h, err = hdrhistogram.DecodePacked([]byte(fields[3]))
	if err != nil {
		return key, nil, false, err
	}
	return key, h, true, nil
}
