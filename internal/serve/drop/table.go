package drop

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/google/nftables"
	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// owner is NFT_TABLE_F_OWNER of linux/netfilter/nf_tables.h.
const owner = 2

// open makes a table that is the connection's own.
func open(name string) (*nftables.Conn, *nftables.Table, error) {
	var socket *netlink.Conn
	conn, err := nftables.New(nftables.AsLasting(), nftables.WithSockOptions(func(c *netlink.Conn) error {
		socket = c
		return nil
	}))
	if err != nil {
		return nil, nil, because(err)
	}
	table := &nftables.Table{Name: name, Family: nftables.TableFamilyINet}
	if err := own(socket, table); err != nil {
		return nil, nil, errors.Join(because(err), conn.CloseLasting())
	}
	return conn, table, nil
}

// own makes the table. The library cannot say who owns one, so this message is ours, on its socket.
func own(socket *netlink.Conn, t *nftables.Table) error {
	attributes, err := netlink.MarshalAttributes([]netlink.Attribute{
		{Type: unix.NFTA_TABLE_NAME, Data: append([]byte(t.Name), 0)},
		{Type: unix.NFTA_TABLE_FLAGS, Data: binary.BigEndian.AppendUint32(nil, owner)},
	})
	if err != nil {
		return err
	}
	message := func(kind int, flags netlink.HeaderFlags, family byte, resource uint16, data []byte) netlink.Message {
		head := binary.BigEndian.AppendUint16([]byte{family, unix.NFNETLINK_V0}, resource) // struct nfgenmsg
		return netlink.Message{Header: netlink.Header{Type: netlink.HeaderType(kind), Flags: netlink.Request | flags}, Data: append(head, data...)}
	}
	if err := socket.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return err
	}
	if _, err := socket.SendMessages([]netlink.Message{
		message(unix.NFNL_MSG_BATCH_BEGIN, 0, 0, unix.NFNL_SUBSYS_NFTABLES, nil),
		message(unix.NFNL_SUBSYS_NFTABLES<<8|unix.NFT_MSG_NEWTABLE, netlink.Acknowledge|netlink.Create|netlink.Excl, byte(t.Family), 0, attributes),
		message(unix.NFNL_MSG_BATCH_END, 0, 0, unix.NFNL_SUBSYS_NFTABLES, nil),
	}); err != nil {
		return err
	}
	if _, err := socket.Receive(); err != nil { // the acknowledgement, or why not
		return err
	}
	return socket.SetReadDeadline(time.Time{})
}

// because says in words why the kernel refused.
func because(err error) error {
	switch {
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return fmt.Errorf("rules may not be read or made: %w (needs CAP_NET_ADMIN)", err)
	case errors.Is(err, unix.EOPNOTSUPP):
		return fmt.Errorf("the kernel was built without nf_tables, or its module is missing: %w", err)
	case errors.Is(err, unix.EPROTONOSUPPORT), errors.Is(err, unix.EAFNOSUPPORT):
		return fmt.Errorf("the kernel has no netfilter: %w", err)
	case errors.Is(err, unix.EINVAL):
		return fmt.Errorf("the kernel cannot give a table of rules to a process, as Linux can since 5.12: %w", err)
	case errors.Is(err, unix.ENOENT):
		return fmt.Errorf("the kernel's nf_tables lacks what the rules are made of (CONFIG_NFT_NUMGEN): %w", err)
	}
	return err
}

// Offered tries out whether rules can be made here: a table with all that they are made of, through which nothing goes, and
// which is gone when it returns. The error says in words why not.
func Offered() error {
	conn, table, err := open("planrun-try-" + rand.Text())
	if err != nil {
		return err
	}
	chain := conn.AddChain(&nftables.Chain{Name: "unused", Table: table})
	for _, e := range matches([]Rule{{Port: 1, Share: 0.5}}) {
		conn.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: e})
	}
	err = conn.Flush()
	if err != nil {
		err = because(err)
	}
	return errors.Join(err, conn.CloseLasting())
}
