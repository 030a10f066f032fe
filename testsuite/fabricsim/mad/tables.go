package mad

// LinearFDBBlock is one block of a switch's linear forwarding table: the
// output ports of 64 consecutive LIDs (IBTA 14.2.5.10). The modifier is the
// block number.
type LinearFDBBlock [64]uint8

// Encode implements Attribute.
func (a *LinearFDBBlock) Encode(b []byte) { copy(b[:64], a[:]) }

// Decode implements Attribute.
func (a *LinearFDBBlock) Decode(data []byte) { copy(a[:], cut(data, 64)) }

// NoPort in a forwarding table drops the packet.
const NoPort uint8 = 255

// words32 is the shape of tables of 32 words of 16 bits.
type words32 [32]uint16

// Encode implements Attribute.
func (a *words32) Encode(b []byte) {
	for i, v := range a {
		put16(b[2*i:], v)
	}
}

// Decode implements Attribute.
func (a *words32) Decode(data []byte) {
	b := cut(data, 64)
	for i := range a {
		a[i] = get16(b[2*i:])
	}
}

// MulticastFDBBlock is 32 port masks of 16 ports each (IBTA 14.2.5.12): the
// modifier's low nine bits are the block, its top four the group of ports.
type MulticastFDBBlock struct{ words32 }

// PKeyBlock is 32 partition keys (IBTA 14.2.5.7): the modifier's low half is
// the block, its high half the port of a switch.
type PKeyBlock struct{ words32 }

// NewPKeyBlock returns a block that begins with the given keys.
func NewPKeyBlock(keys ...uint16) PKeyBlock {
	var b PKeyBlock
	copy(b.words32[:], keys)
	return b
}

// Keys gives access to the keys.
func (a *PKeyBlock) Keys() *[32]uint16 { return (*[32]uint16)(&a.words32) }

// Masks gives access to the port masks.
func (a *MulticastFDBBlock) Masks() *[32]uint16 { return (*[32]uint16)(&a.words32) }

// SLToVL maps the sixteen service levels to virtual lanes (IBTA 14.2.5.8).
// The modifier's low byte is the output port, the next the input port.
type SLToVL [16]uint8 // 4 bits each

const slToVLBytes = 8

// Encode implements Attribute.
func (a *SLToVL) Encode(b []byte) {
	for i := range slToVLBytes {
		b[i] = field(a[2*i], 4, 4) | field(a[2*i+1], 4, 0)
	}
}

// Decode implements Attribute.
func (a *SLToVL) Decode(data []byte) {
	b := cut(data, slToVLBytes)
	for i := range slToVLBytes {
		a[2*i], a[2*i+1] = b[i]>>4, b[i]&15
	}
}

// VLArbBlock is half of an arbitration table (IBTA 14.2.5.9): the modifier's
// high half is 1 and 2 for the low priority table, 3 and 4 for the high one;
// its low half is the port.
type VLArbBlock [32]VLWeight

// VLWeight is one entry of an arbitration table.
type VLWeight struct {
	VL     uint8 // 4 bits
	Weight uint8
}

// Encode implements Attribute.
func (a *VLArbBlock) Encode(b []byte) {
	for i, w := range a {
		b[2*i], b[2*i+1] = field(w.VL, 4, 0), w.Weight
	}
}

// Decode implements Attribute.
func (a *VLArbBlock) Decode(data []byte) {
	b := cut(data, 64)
	for i := range a {
		a[i] = VLWeight{b[2*i] & 15, b[2*i+1]}
	}
}

// GUIDBlock is eight GUIDs of a port (IBTA 14.2.5.5); the first of block 0 is
// the port's own. The modifier is the block.
type GUIDBlock [8]uint64

// Encode implements Attribute.
func (a *GUIDBlock) Encode(b []byte) {
	for i, g := range a {
		put64(b[8*i:], g)
	}
}

// Decode implements Attribute.
func (a *GUIDBlock) Decode(data []byte) {
	b := cut(data, 64)
	for i := range a {
		a[i] = get64(b[8*i:])
	}
}
