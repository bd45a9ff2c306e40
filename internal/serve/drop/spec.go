// Package drop drops packets that go to ports of this machine, or come from them, by rules of nftables: they never arrive,
// connections stay open, and their senders retransmit.
//
// Only packets that come in over a loopback device are matched, so that nothing of the machine's own network is ever cut
// off. They are matched where they arrive: who sends is not told, as it would be by a rule on its way out. A packet on
// loopback is a segment of up to 64 KiB, which nothing cuts into frames.
//
// The table of the rules belongs to the netlink socket that made it (NFT_TABLE_F_OWNER, since Linux 5.12): nobody else can
// change it, and the kernel removes it with all that is in it when the socket is closed, as it is when the process is
// killed. So the process is what undoes its rules.
package drop

// A Spec says how the table is called. No table of the network namespace may have its name.
type Spec struct {
	Table string `json:"table"`
}

// Control puts rules in force, in place of those that are; without any nothing is dropped.
type Control struct {
	Rules []Rule `json:"rules,omitempty"`
}

// A Rule drops a share of the TCP packets of one port.
type Rule struct {
	Port  int     `json:"port"`
	From  bool    `json:"from,omitempty"` // those that come from the port; false: those that go to it
	Share float64 `json:"share"`          // from 0 to 1, each packet by chance; 0 only counts them
}

// Reply is the answer to a control message: what the rules counted that it took away.
type Reply struct {
	Before Sample `json:"before"`
}

// A Sample tells what the rules counted that are in force, in their order.
type Sample struct {
	Rules []Counted `json:"rules,omitempty"`
}

// Counted are the packets of a rule since it came into force.
type Counted struct {
	Rule
	Packets int64 `json:"packets"` // that it is about
	Dropped int64 `json:"dropped"`
}

// Total adds up all rules.
func (s Sample) Total() (packets, dropped int64) {
	for _, c := range s.Rules {
		packets += c.Packets
		dropped += c.Dropped
	}
	return packets, dropped
}
