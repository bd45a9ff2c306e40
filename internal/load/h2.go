package load

// newH2 is HTTP/2 on a connection.
func newH2(c *conn) protocol { panic("HTTP/2 is not there yet") }
