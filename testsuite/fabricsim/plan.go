package fabricsim

import "github.com/fabricbot/fabricbot/testsuite/fabricsim/mad"

// Plan is the drawing a fabric is built from.
type Plan struct {
	Nodes  []PlanNode
	Cables []Cable
}

// PlanNode is a node of a plan.
type PlanNode struct {
	ID          string // unique: "S-b8599f0300f00000", or any name
	Name        string // empty: taken from the description
	Description string // what the node says of itself, "node001 HCA-1"
	Kind        uint8  // KindCA, KindSwitch or KindRouter
	Ports       int
	GUID        uint64
	SystemGUID  uint64
	PortGUIDs   map[int]uint64 // adapters; missing ones count up from GUID
	VendorID    uint32
	DeviceID    uint16
}

// Cable joins two ports. Both are built for its width and speed; zero means 4X
// and HDR.
type Cable struct {
	A, B  CableEnd
	Width mad.Width
	Speed mad.Speed
}

// CableEnd is one port, by the ID of its node.
type CableEnd struct {
	Node string
	Port int
}
