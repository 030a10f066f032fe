package bot

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/slack-go/slack"
)

// Tokens are the secrets of the Slack side, resolved.
type Tokens struct {
	// Bot is xoxb-…, App is xapp-… (socket mode only).
	Bot, App string
	// APIURL is where Slack is; empty means Slack itself. Plain http is
	// accepted for loopback only.
	APIURL string
	// OpenGap is the least time between two openings of a socket; default two
	// seconds. Up to half of it is added at random.
	OpenGap time.Duration
}

// callTimeout bounds any call at the lowest level; most have shorter ones.
const callTimeout = 3 * time.Minute

// Connect makes the Slack client. Nothing is sent yet.
func Connect(t Tokens) (*slack.Client, error) {
	if t.OpenGap <= 0 {
		t.OpenGap = 2 * time.Second
	}
	base := &http.Client{Timeout: callTimeout, Transport: &opener{next: http.DefaultTransport, gap: t.OpenGap}}
	options := []slack.Option{slack.OptionHTTPClient(base), slack.OptionAppLevelToken(t.App)}
	if t.APIURL != "" {
		u, err := url.Parse(t.APIURL)
		if err != nil || u.Host == "" {
			return nil, fmt.Errorf("slack.api_url %q is not an address such as https://slack.com/api/", t.APIURL)
		}
		if u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())) {
			return nil, fmt.Errorf("slack.api_url %q would send the tokens in the clear: use https, or http on loopback", t.APIURL)
		}
		// slack-go appends the method's name to it.
		options = append(options, slack.OptionAPIURL(strings.TrimRight(t.APIURL, "/")+"/"))
	}
	return slack.New(t.Bot, options...), nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// opener keeps the socket client from dialling in a tight loop: it waits
// between connections of a server that accepts and closes only as long as
// nothing, and Slack answers that with a ban (slack-go/slack issue 1566).
type opener struct {
	next http.RoundTripper
	gap  time.Duration

	mu   sync.Mutex
	free time.Time
}

// RoundTrip delays apps.connections.open; everything else passes.
func (o *opener) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "/apps.connections.open") {
		o.mu.Lock()
		now := time.Now()
		wait := o.free.Sub(now)
		o.free = now.Add(max(0, wait) + o.gap + rand.N(o.gap/2+1))
		o.mu.Unlock()
		if err := (wallClock{}).Sleep(r.Context(), wait); err != nil {
			return nil, err
		}
	}
	return o.next.RoundTrip(r)
}
