package terminal

import (
	"errors"
	"fmt"

	"github.com/fabricbot/fabricbot/internal/engine"
)

// whoami prints the id by which the access rules know the person at this
// terminal.
func (c *command) whoami(words []string) int {
	if len(c.takeJSON(words)) > 0 {
		return c.usage(errors.New("whoami takes only -json"))
	}
	me, err := whoAmI()
	if err != nil {
		return c.fail(err)
	}
	if c.json {
		return c.print(me)
	}
	fmt.Fprintln(c.Out, me.ID)
	return ExitOK
}

// engine prints the sign-in link of the embedded engine's page.
func (c *command) engine(words []string) int {
	if len(words) != 1 || words[0] != "link" {
		return c.usage(errors.New("engine takes link"))
	}
	s, err := c.site()
	if err != nil {
		return c.fail(err)
	}
	embedded := s.Config.Temporal.Embedded
	if embedded == nil {
		return c.fail(fmt.Errorf("the engine is the cluster at %s, which has a page of its own", s.Config.Temporal.Address))
	}
	link, err := engine.UISignIn(embedded.DataDir)
	if err != nil {
		return c.fail(err)
	}
	fmt.Fprintln(c.Out, link)
	return ExitOK
}
