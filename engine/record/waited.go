package record

import "time"

// LongWait is for how long a request of an open loop has waited, at least, that counts as one that waited for a connection.
const LongWait = 50 * time.Millisecond

// A WaitedSecond is a second and phase in which requests of an open loop were due that waited for a connection.
type WaitedSecond struct {
	Load    string  // as it is recorded
	T       float64 // its begin, since the run began
	Phase   string
	Waited  int64         // requests that were due in it and waited
	Longest time.Duration // wait of those that were sent, at the least: by how much they were late without the generator's own largest delay of the second
	Sent    int64         // requests of the load that were sent in it, whenever they were due
}
