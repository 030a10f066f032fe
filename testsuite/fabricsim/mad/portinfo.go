package mad

// Port states (IBTA 14.2.5.6, PortState).
const (
	PortNoChange uint8 = iota
	PortDown
	PortInit
	PortArmed
	PortActive
)

// Physical port states (IBTA 14.2.5.6, PortPhysicalState).
const (
	PhysNoChange uint8 = iota
	PhysSleep
	PhysPolling
	PhysDisabled
	PhysTraining
	PhysLinkUp
	PhysRecovery
)

// Bits of PortInfo.CapabilityMask (IBTA 14.2.5.6).
const (
	CapIsSM             uint32 = 1 << 1
	CapNotice           uint32 = 1 << 2
	CapTrap             uint32 = 1 << 3
	CapAutoMigration    uint32 = 1 << 5
	CapSLMapping        uint32 = 1 << 6
	CapSystemGUID       uint32 = 1 << 11
	CapExtendedSpeeds   uint32 = 1 << 14
	CapMask2            uint32 = 1 << 15
	CapCommMgmt         uint32 = 1 << 16
	CapDRNotice         uint32 = 1 << 21
	CapMaskNotice       uint32 = 1 << 22
	CapClientReregister uint32 = 1 << 25
	CapOtherChanges     uint32 = 1 << 26
)

// Bits of PortInfo.CapabilityMask2 (IBTA 14.2.5.6).
const (
	Cap2SetDescription uint16 = 1 << 0
	Cap2Width2X        uint16 = 1 << 4
	Cap2HDR            uint16 = 1 << 5
	Cap2NDR            uint16 = 1 << 10
)

// PortInfo is IBTA 14.2.5.6. Widths and speeds are bit masks, see WidthSet and
// SpeedSet.
type PortInfo struct {
	MKey              uint64
	GIDPrefix         uint64
	LID               uint16
	MasterSMLID       uint16
	CapabilityMask    uint32
	DiagCode          uint16
	MKeyLease         uint16 // seconds
	LocalPort         uint8
	WidthEnabled      uint8
	WidthSupported    uint8
	WidthActive       uint8
	SpeedSupported    uint8 // 4 bits
	State             uint8 // 4 bits
	Phys              uint8 // 4 bits
	LinkDownDefault   uint8 // 4 bits
	MKeyProtect       uint8 // 2 bits
	LMC               uint8 // 3 bits
	SpeedActive       uint8 // 4 bits
	SpeedEnabled      uint8 // 4 bits
	NeighborMTU       uint8 // 4 bits
	MasterSMSL        uint8 // 4 bits
	VLCap             uint8 // 4 bits
	InitType          uint8 // 4 bits
	VLHighLimit       uint8
	VLArbHighCap      uint8
	VLArbLowCap       uint8
	InitTypeReply     uint8 // 4 bits
	MTUCap            uint8 // 4 bits
	VLStallCount      uint8 // 3 bits
	HOQLife           uint8 // 5 bits
	OperationalVLs    uint8 // 4 bits
	PartitionIn       bool
	PartitionOut      bool
	FilterRawIn       bool
	FilterRawOut      bool
	MKeyViolations    uint16
	PKeyViolations    uint16
	QKeyViolations    uint16
	GUIDCap           uint8
	ClientReregister  bool
	MulticastPKeyTrap uint8 // 2 bits
	SubnetTimeout     uint8 // 5 bits
	RespTime          uint8 // 5 bits
	LocalPhyErrors    uint8 // 4 bits
	OverrunErrors     uint8 // 4 bits
	MaxCreditHint     uint16
	RoundTripLatency  uint32 // 24 bits
	CapabilityMask2   uint16
	SpeedExtActive    uint8 // 4 bits
	SpeedExtSupported uint8 // 4 bits
	SpeedExtEnabled   uint8 // 5 bits
}

const portInfoBytes = 64

// Encode implements Attribute.
func (a *PortInfo) Encode(b []byte) {
	put64(b, a.MKey)
	put64(b[8:], a.GIDPrefix)
	put16(b[16:], a.LID)
	put16(b[18:], a.MasterSMLID)
	put32(b[20:], a.CapabilityMask)
	put16(b[24:], a.DiagCode)
	put16(b[26:], a.MKeyLease)
	b[28], b[29], b[30], b[31] = a.LocalPort, a.WidthEnabled, a.WidthSupported, a.WidthActive
	b[32] = field(a.SpeedSupported, 4, 4) | field(a.State, 4, 0)
	b[33] = field(a.Phys, 4, 4) | field(a.LinkDownDefault, 4, 0)
	b[34] = field(a.MKeyProtect, 2, 6) | field(a.LMC, 3, 0)
	b[35] = field(a.SpeedActive, 4, 4) | field(a.SpeedEnabled, 4, 0)
	b[36] = field(a.NeighborMTU, 4, 4) | field(a.MasterSMSL, 4, 0)
	b[37] = field(a.VLCap, 4, 4) | field(a.InitType, 4, 0)
	b[38], b[39], b[40] = a.VLHighLimit, a.VLArbHighCap, a.VLArbLowCap
	b[41] = field(a.InitTypeReply, 4, 4) | field(a.MTUCap, 4, 0)
	b[42] = field(a.VLStallCount, 3, 5) | field(a.HOQLife, 5, 0)
	b[43] = field(a.OperationalVLs, 4, 4) | flag(a.PartitionIn, 3) | flag(a.PartitionOut, 2) | flag(a.FilterRawIn, 1) | flag(a.FilterRawOut, 0)
	put16(b[44:], a.MKeyViolations)
	put16(b[46:], a.PKeyViolations)
	put16(b[48:], a.QKeyViolations)
	b[50] = a.GUIDCap
	b[51] = flag(a.ClientReregister, 7) | field(a.MulticastPKeyTrap, 2, 5) | field(a.SubnetTimeout, 5, 0)
	b[52] = field(a.RespTime, 5, 0)
	b[53] = field(a.LocalPhyErrors, 4, 4) | field(a.OverrunErrors, 4, 0)
	put16(b[54:], a.MaxCreditHint)
	put32(b[56:], a.RoundTripLatency&0xffffff)
	put16(b[60:], a.CapabilityMask2)
	b[62] = field(a.SpeedExtActive, 4, 4) | field(a.SpeedExtSupported, 4, 0)
	b[63] = field(a.SpeedExtEnabled, 5, 0)
}

// Decode implements Attribute.
func (a *PortInfo) Decode(data []byte) {
	b := cut(data, portInfoBytes)
	high := func(i int) uint8 { return b[i] >> 4 }
	low := func(i int) uint8 { return b[i] & 15 }
	*a = PortInfo{
		MKey: get64(b), GIDPrefix: get64(b[8:]), LID: get16(b[16:]), MasterSMLID: get16(b[18:]),
		CapabilityMask: get32(b[20:]), DiagCode: get16(b[24:]), MKeyLease: get16(b[26:]),
		LocalPort: b[28], WidthEnabled: b[29], WidthSupported: b[30], WidthActive: b[31],
		SpeedSupported: high(32), State: low(32), Phys: high(33), LinkDownDefault: low(33),
		MKeyProtect: unfield(b[34], 2, 6), LMC: unfield(b[34], 3, 0),
		SpeedActive: high(35), SpeedEnabled: low(35), NeighborMTU: high(36), MasterSMSL: low(36),
		VLCap: high(37), InitType: low(37), VLHighLimit: b[38], VLArbHighCap: b[39], VLArbLowCap: b[40],
		InitTypeReply: high(41), MTUCap: low(41), VLStallCount: unfield(b[42], 3, 5), HOQLife: unfield(b[42], 5, 0),
		OperationalVLs: high(43), PartitionIn: b[43]&8 != 0, PartitionOut: b[43]&4 != 0, FilterRawIn: b[43]&2 != 0, FilterRawOut: b[43]&1 != 0,
		MKeyViolations: get16(b[44:]), PKeyViolations: get16(b[46:]), QKeyViolations: get16(b[48:]),
		GUIDCap: b[50], ClientReregister: b[51]&0x80 != 0, MulticastPKeyTrap: unfield(b[51], 2, 5), SubnetTimeout: unfield(b[51], 5, 0),
		RespTime: unfield(b[52], 5, 0), LocalPhyErrors: high(53), OverrunErrors: low(53), MaxCreditHint: get16(b[54:]),
		RoundTripLatency: get24(b[57:]), CapabilityMask2: get16(b[60:]),
		SpeedExtActive: high(62), SpeedExtSupported: low(62), SpeedExtEnabled: unfield(b[63], 5, 0),
	}
}

// MlnxExtPortInfo is the vendor's attribute 0xff90 that carries FDR10, as the
// field table of libibmad describes it: one byte at the end of each of the
// first four words.
type MlnxExtPortInfo struct {
	StateChangeEnable, SpeedSupported, SpeedEnabled, SpeedActive uint8
}

const mlnxExtBytes = 16

// Encode implements Attribute.
func (a *MlnxExtPortInfo) Encode(b []byte) {
	clear(b[:mlnxExtBytes])
	b[3], b[7], b[11], b[15] = a.StateChangeEnable, a.SpeedSupported, a.SpeedEnabled, a.SpeedActive
}

// Decode implements Attribute.
func (a *MlnxExtPortInfo) Decode(data []byte) {
	b := cut(data, mlnxExtBytes)
	*a = MlnxExtPortInfo{b[3], b[7], b[11], b[15]}
}
