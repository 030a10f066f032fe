package slackemu_test

import (
	"fmt"

	"github.com/slack-go/slack"

	"github.com/fabricbot/fabricbot/testsuite/slackemu"
)

// The real client talks to the emulator by its address alone.
func ExampleNew() {
	s, err := slackemu.New(slackemu.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = s.Close() }()
	api := slack.New(s.BotToken(), slack.OptionAPIURL(s.APIURL()), slack.OptionAppLevelToken(s.AppToken()))
	if _, _, err := api.PostMessage("C07FABOPS", slack.MsgOptionText("drain of leaf-07 is done", false)); err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range s.Messages("#fabric-ops") {
		fmt.Println(m.Text)
	}
	_, _, err = api.PostMessage("C07RANDOM", slack.MsgOptionText("hello", false))
	fmt.Println(err)
	// Output:
	// drain of leaf-07 is done
	// not_in_channel
}
