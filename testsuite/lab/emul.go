package lab

import "embed"

// emulFiles are the small programs the hosts get in place of what is not to
// be had: wrappers that point a real tool at the host's own adapter, and
// stand-ins for the vendor's tools.
//
//go:embed emul
var emulFiles embed.FS

// packageList is the one list of Debian packages the lab needs.
//
//go:embed packages.txt
var packageList string

// fabricTools are the packaged programs that open the adapter themselves; the
// scripts around them (ibhosts, ibswitches, …) find these by path.
var fabricTools = []string{
	"dump_fts", "ibaddr", "ibccconfig", "ibccquery", "iblinkinfo", "ibnetdiscover", "ibping",
	"ibportstate", "ibqueryerrors", "ibroute", "ibstat", "ibsysstat", "ibtracert", "osmtest",
	"perfquery", "saquery", "sminfo", "smpdump", "smpquery", "vendstat",
}

func emul(name string) []byte {
	b, err := emulFiles.ReadFile("emul/" + name)
	if err != nil {
		return nil // the names are constants of this package; a test reads them all
	}
	return b
}
