package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/fabricbot/fabricbot/testsuite/bench/farm"
	"github.com/fabricbot/fabricbot/testsuite/bench/figure"
)

// bare is the floor: open connections and one session per command, with no
// script, marker, limit or kill around it. It shows how much of a warm
// fan-out is SSH and the hosts themselves.
type bare struct {
	clients []*ssh.Client
}

// openBare connects to every endpoint; what it opened must be closed even
// after an error.
func openBare(f *farm.Farm) (*bare, error) {
	b := &bare{}
	key, err := os.ReadFile(f.Key)
	if err != nil {
		return b, fmt.Errorf("reading the client key: %w", err)
	}
	signer, err := ssh.ParsePrivateKey(key)
	if err != nil {
		return b, fmt.Errorf("reading the client key: %w", err)
	}
	host, err := f.HostKey()
	if err != nil {
		return b, err
	}
	for i := range f.Hosts {
		c, err := ssh.Dial("tcp", f.Addr(i), &ssh.ClientConfig{
			User: farm.User, Auth: []ssh.AuthMethod{ssh.PublicKeys(signer)}, HostKeyCallback: ssh.FixedHostKey(host), Timeout: time.Minute,
		})
		if err != nil {
			return b, fmt.Errorf("connecting to %s: %w", f.Addr(i), err)
		}
		b.clients = append(b.clients, c)
	}
	return b, nil
}

func (b *bare) run(context.Context) (figure.Sample, error) {
	errs := make([]error, len(b.clients))
	places := make(chan struct{}, fanAtOnce)
	var all sync.WaitGroup
	begin := time.Now()
	for i, c := range b.clients {
		all.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			s, err := c.NewSession()
			if err == nil {
				defer s.Close()
				_, err = s.Output("hostname")
			}
			errs[i] = err
		})
	}
	all.Wait()
	s := figure.Sample{Wall: time.Since(begin)}
	for _, err := range errs {
		if err != nil {
			return s, fmt.Errorf("running hostname in a bare session: %w", err)
		}
	}
	return s, nil
}

func (b *bare) close() {
	for _, c := range b.clients {
		_ = c.Close()
	}
}
