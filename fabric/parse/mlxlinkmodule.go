package parse

import (
	"strconv"
	"strings"
)

// MLXModule is mlxlink's Module Info: the cable or transceiver, as text.
type MLXModule struct {
	Identifier     string `json:"identifier,omitempty"`
	Compliance     string `json:"compliance,omitempty"`
	Technology     string `json:"technology,omitempty"`
	CableType      string `json:"cable_type,omitempty"`
	OUI            string `json:"oui,omitempty"`
	Vendor         string `json:"vendor,omitempty"`
	PartNumber     string `json:"part_number,omitempty"`
	SerialNumber   string `json:"serial_number,omitempty"`
	Revision       string `json:"revision,omitempty"`
	FW             string `json:"fw,omitempty"`
	LengthMetres   string `json:"length_m,omitempty"`
	WavelengthNm   string `json:"wavelength_nm,omitempty"`
	Temperature    string `json:"temperature,omitempty"` // °C, with its limits in brackets: "45 [-5..75]"
	VoltageMV      string `json:"voltage_mv,omitempty"`
	BiasCurrentMA  string `json:"bias_current_ma,omitempty"` // a value a lane, then the limits
	RxPowerDBm     string `json:"rx_power_dbm,omitempty"`
	TxPowerDBm     string `json:"tx_power_dbm,omitempty"`
	PowerClass     string `json:"power_class,omitempty"`
	AttenuationsDB string `json:"attenuation_db,omitempty"`
	// Other are the labels without a field of their own.
	Other map[string]string `json:"other,omitempty"`
}

// mlxlinkModule are labels that only Module Info has, for where grep has
// taken the heading.
var mlxlinkModule = map[string]bool{
	"Identifier": true, "Cable Technology": true, "Cable Type": true, "Vendor Name": true, "Vendor Part Number": true, "Vendor Serial Number": true,
	"Temperature [C]": true, "Voltage [mV]": true, "Bias Current [mA]": true, "Rx Power Current [dBm]": true, "Tx Power Current [dBm]": true,
	"Transfer Distance [m]": true, "Wavelength [nm]": true,
}

func (p *MLXLinkPort) module(key, value string) bool {
	if p.Module == nil {
		p.Module = &MLXModule{}
	}
	m := p.Module
	fields := map[string]*string{
		"Identifier": &m.Identifier, "Compliance": &m.Compliance, "Cable Technology": &m.Technology, "Cable Type": &m.CableType, "OUI": &m.OUI,
		"Vendor Name": &m.Vendor, "Vendor Part Number": &m.PartNumber, "Vendor Serial Number": &m.SerialNumber, "Rev": &m.Revision,
		"FW Version": &m.FW, "Transfer Distance [m]": &m.LengthMetres, "Wavelength [nm]": &m.WavelengthNm, "Temperature [C]": &m.Temperature,
		"Voltage [mV]": &m.VoltageMV, "Bias Current [mA]": &m.BiasCurrentMA, "Rx Power Current [dBm]": &m.RxPowerDBm,
		"Tx Power Current [dBm]": &m.TxPowerDBm, "Power Class": &m.PowerClass,
	}
	if to, ok := fields[key]; ok {
		*to = value
		return true
	}
	if strings.HasPrefix(key, "Attenuation") {
		m.AttenuationsDB = value
		return true
	}
	put(&m.Other, snake(key), value)
	return true
}

// Celsius returns the module's temperature; false where it measures none.
func (m *MLXModule) Celsius() (float64, bool) { return firstNumber(m.Temperature) }

// Metres returns the cable's length; false where it is not known.
func (m *MLXModule) Metres() (float64, bool) { return firstNumber(m.LengthMetres) }

// LanePowers returns the values of a row such as RxPowerDBm without the
// limits in brackets; nil for N/A.
func LanePowers(row string) []float64 {
	row, _, _ = strings.Cut(row, "[")
	var lanes []float64
	for _, w := range strings.Split(row, ",") {
		v, ok := firstNumber(strings.TrimSpace(w))
		if !ok {
			return nil
		}
		lanes = append(lanes, v)
	}
	return lanes
}

func firstNumber(text string) (float64, bool) {
	word, _, _ := strings.Cut(text, " ")
	v, err := strconv.ParseFloat(word, 64)
	return v, err == nil && v == v && v > -1e9 && v < 1e9
}
