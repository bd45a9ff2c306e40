package drop

import (
	"encoding/binary"
	"math"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

// hooked is the chain through which all goes that arrives.
func hooked(t *nftables.Table) *nftables.Chain {
	return &nftables.Chain{Name: "arrives", Table: t, Type: nftables.ChainTypeFilter, Hooknum: nftables.ChainHookInput, Priority: nftables.ChainPriorityFilter}
}

// matches are the expressions of the chain's rules: the preamble, then one for each rule.
func matches(rules []Rule) [][]expr.Any {
	out := preamble()
	for _, r := range rules {
		out = append(out, match(r))
	}
	return out
}

// preamble lets pass what did not come over a loopback device, and what is not TCP.
func preamble() [][]expr.Any {
	pass := &expr.Verdict{Kind: expr.VerdictReturn}
	return [][]expr.Any{
		{&expr.Meta{Key: expr.MetaKeyIIFTYPE, Register: 1}, unequal(binary.NativeEndian.AppendUint16(nil, unix.ARPHRD_LOOPBACK)), pass},
		{&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1}, unequal([]byte{unix.IPPROTO_TCP}), pass},
	}
}

func unequal(b []byte) *expr.Cmp { return &expr.Cmp{Op: expr.CmpOpNeq, Register: 1, Data: b} }

// of is how finely a share can be drawn: a millionth. The kernel scales 32 random bits to a number below it, so that each is as
// likely as any other to 1 in 4,000.
const of = 1_000_000

// nearly is how far, as a share of it, the share that is drawn may be from the one that is asked for, and so the share that is
// let pass.
const nearly = 0.01

// Nearest is the share that the kernel can draw which is nearest to one from 0 to 1, and is 0 or 1 for these alone; ok is false
// if that is no longer about the same, as of shares below a millionth.
func Nearest(share float64) (nearest float64, ok bool) {
	if share <= 0 || share >= 1 {
		return share, true
	}
	nearest = min(max(1, math.Round(share*of)), of-1) / of
	return nearest, math.Abs(nearest-share) <= nearly*min(share, 1-share)
}

// match counts the packets of a port, and those of them that it drops. A random number below `of` is less than the share of
// it; it is turned into the order of bytes in which the kernel compares.
func match(r Rule) []expr.Any {
	offset := uint32(2) // of the destination's port in the head of TCP
	if r.From {
		offset = 0
	}
	out := []expr.Any{
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: offset, Len: 2},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: binary.BigEndian.AppendUint16(nil, uint16(r.Port))},
		&expr.Counter{},
	}
	if r.Share == 0 {
		return out
	}
	if r.Share < 1 {
		out = append(out,
			&expr.Numgen{Register: 1, Modulus: of, Type: unix.NFT_NG_RANDOM},
			&expr.Byteorder{SourceRegister: 1, DestRegister: 1, Op: expr.ByteorderHton, Len: 4, Size: 4},
			&expr.Cmp{Op: expr.CmpOpLt, Register: 1, Data: binary.BigEndian.AppendUint32(nil, uint32(math.Round(r.Share*of)))})
	}
	return append(out, &expr.Counter{}, &expr.Verdict{Kind: expr.VerdictDrop})
}
