package slackemu

import (
	"encoding/json"
	"fmt"
	"net/mail"
	"net/url"
	"regexp"
	"strconv"
	"unicode/utf8"
)

var wholeNumber = regexp.MustCompile(`^-?\d+$`)

// complaint is what Slack's own client says about an input before it submits;
// empty when the value is fine.
func complaint(block, element, st map[string]any) string {
	kind, _ := element["type"].(string)
	empty := true
	for k, v := range st {
		if list, ok := v.([]any); k != "type" && v != nil && (!ok || len(list) > 0) {
			empty = false
		}
	}
	if empty {
		if block["optional"] == true {
			return ""
		}
		return "Please complete this required field."
	}
	text, _ := st["value"].(string)
	n := utf8.RuneCountInString(text)
	switch kind {
	case "plain_text_input":
		if low, ok := element["min_length"].(json.Number); ok {
			if v, _ := low.Int64(); int64(n) < v {
				return fmt.Sprintf("Please enter at least %d characters.", v)
			}
		}
		limit := int64(3000)
		if high, ok := element["max_length"].(json.Number); ok {
			limit, _ = high.Int64()
		}
		if int64(n) > limit {
			return fmt.Sprintf("Please enter at most %d characters.", limit)
		}
	case "email_text_input":
		if _, err := mail.ParseAddress(text); err != nil {
			return "Please enter a valid email address."
		}
	case "url_text_input":
		if u, err := url.Parse(text); err != nil || u.Host == "" {
			return "Please enter a valid URL."
		}
	case "number_input":
		return numberComplaint(element, text)
	}
	return ""
}

func numberComplaint(element map[string]any, text string) string {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || (element["is_decimal_allowed"] != true && !wholeNumber.MatchString(text)) {
		return "Please enter a valid number."
	}
	if low, err := strconv.ParseFloat(fmt.Sprint(element["min_value"]), 64); err == nil && v < low {
		return fmt.Sprintf("Please enter a number of at least %v.", element["min_value"])
	}
	if high, err := strconv.ParseFloat(fmt.Sprint(element["max_value"]), 64); err == nil && v > high {
		return fmt.Sprintf("Please enter a number of at most %v.", element["max_value"])
	}
	return ""
}
