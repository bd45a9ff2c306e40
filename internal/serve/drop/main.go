package drop

import (
	"io"

	"github.com/planrun/planrun/internal/serve/process"
)

// Main is the life of a worker process of this kind.
func Main(in io.Reader, out io.Writer) error { return process.Serve(in, out, "drop", Start) }
