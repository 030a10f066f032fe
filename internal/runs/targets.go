package runs

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/fabric"
	"github.com/fabricbot/fabricbot/op"
	"github.com/fabricbot/fabricbot/workflows"
)

// checkTargets resolves every host expression of a request against the
// inventory before anything starts, for every surface the same. The worker
// resolves again, with its own inventory, when the run begins. The error is a
// usage error.
func (c *Client) checkTargets(r activities.Request) error {
	e, ok := workflows.Lookup(r.Op)
	if !ok {
		return &op.UsageError{Op: r.Op, Reason: fmt.Sprintf("unknown operation %q", r.Op), Example: "help"}
	}
	in, err := e.Input(r.Input)
	if err != nil {
		return e.UsageError("", err.Error())
	}
	v := reflect.ValueOf(in)
	if v.Kind() != reflect.Struct {
		return nil
	}
	for i := range v.NumField() {
		expr, ok := v.Field(i).Interface().(fabric.HostExpr)
		if !ok || expr == "" {
			continue
		}
		if _, err := expr.Resolve(c.Inventory); err != nil {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			return e.UsageError(name, err.Error())
		}
	}
	return nil
}
