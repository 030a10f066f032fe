package bot

import (
	"errors"
	"fmt"
	"slices"

	"github.com/slack-go/slack"
)

// UndeliverableError says that Slack will never take a message: trying again
// is useless until a person changes something. Its type's name is what retry
// policies may list as not to be retried.
type UndeliverableError struct {
	// Code is Slack's error code, such as "is_archived".
	Code string
	Act  string
}

// Error says what to do.
func (e *UndeliverableError) Error() string {
	return fmt.Sprintf("%s: slack answered %s; invite the bot to the channel, or look at the app's settings", e.Act, e.Code)
}

// slackCode is Slack's error code, empty where the answer was none.
func slackCode(err error) string {
	var answer slack.SlackErrorResponse
	if errors.As(err, &answer) {
		return answer.Err
	}
	return ""
}

// told wraps an error of a Slack call with the act it belongs to.
func told(act string, err error) error {
	if err == nil {
		return nil
	}
	code := slackCode(err)
	if slices.Contains([]string{
		"channel_not_found", "not_in_channel", "is_archived", "restricted_action", "posting_to_channel_denied",
		"messages_tab_disabled", "user_not_in_channel", "restricted_action_thread_locked",
	}, code) {
		return &UndeliverableError{Code: code, Act: act}
	}
	return fmt.Errorf("%s: %w", act, err)
}

// AuthError says that Slack does not accept the bot's tokens; only an operator
// can change that, so the program should stop.
type AuthError struct{ Code string }

// Error says what to do.
func (e *AuthError) Error() string {
	return fmt.Sprintf("slack refuses the bot's tokens (%s): check that the bot token (xoxb-) and, for socket mode, the app token (xapp-, scope connections:write) belong to an installed app", e.Code)
}

// authCodes are answers that no waiting will change. The socket client itself
// gives up on four of them only.
var authCodes = []string{
	"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "not_allowed_token_type",
	"missing_scope", "team_disabled", "org_login_required", "app_not_installed", "access_denied", "no_permission",
}

// authError gives the AuthError behind an error, if it is one.
func authError(err error) (*AuthError, bool) {
	if code := slackCode(err); slices.Contains(authCodes, code) {
		return &AuthError{Code: code}, true
	}
	if err != nil && slices.Contains(authCodes, err.Error()) {
		return &AuthError{Code: err.Error()}, true
	}
	return nil, false
}
