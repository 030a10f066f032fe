package fabricsim

import (
	"time"

	"github.com/fabricbot/fabricbot/testsuite/fabricsim/mad"
)

// A trap is sent again until the subnet manager represses it (IBTA 13.4.9 and
// 14.3.4), at an interval like that of real firmware, and given up in the end.
const (
	trapInterval = time.Second
	trapRepeats  = 10
)

type pendingTrap struct {
	timer *time.Timer
	left  int
}

// trap sends a notice from a port to the subnet manager the port knows.
func (f *Fabric) trap(from *Port, n mad.Notice) {
	node := from.node
	if from.info.MasterSMLID == 0 || from.info.LID == 0 || node.off || node.hung {
		return
	}
	node.nextTrap++
	tid := node.info.NodeGUID<<32 | uint64(node.nextTrap)&0x7fffffff
	pend := &pendingTrap{left: trapRepeats}
	node.traps[tid] = pend
	f.sendTrap(from, n, tid)
	if node.traps[tid] == nil {
		return // repressed while it was sent
	}
	pend.timer = time.AfterFunc(trapInterval, func() { f.repeatTrap(from, n, tid) })
}

func (f *Fabric) sendTrap(from *Port, n mad.Notice, tid uint64) {
	m := mad.New(mad.ClassSubnLID, mad.MethodTrap, mad.AttrNotice, 0)
	m.SetTID(tid)
	n.Encode(m.SMPData())
	f.send(from, &packet{mad: m, length: mad.Bytes, slid: from.info.LID, dlid: from.info.MasterSMLID})
}

func (f *Fabric) repeatTrap(from *Port, n mad.Notice, tid uint64) {
	f.locked(func() {
		pend := from.node.traps[tid]
		if pend == nil || f.closed {
			return
		}
		if pend.left--; pend.left == 0 || from.node.off {
			delete(from.node.traps, tid)
			return
		}
		f.sendTrap(from, n, tid)
		pend.timer.Reset(trapInterval)
	})
}

// repressed ends the trap with this transaction id, if it is the node's.
func (n *Node) repressed(tid uint64) bool {
	pend := n.traps[tid]
	if pend == nil {
		return false
	}
	if pend.timer != nil {
		pend.timer.Stop()
	}
	delete(n.traps, tid)
	return true
}
