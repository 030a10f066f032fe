package embedded

import (
	"errors"
	"fmt"
	"net"
	"strconv"

	"golang.org/x/sys/unix"
)

// loopback is the only address anything here listens on.
const loopback = "127.0.0.1"

func hostPort(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }

// freePorts asks the kernel for n different ports. Another program may take one before the server does; the start
// then fails and says so.
func freePorts(n int) ([]int, error) {
	var (
		ports []int
		held  []net.Listener
	)
	defer func() {
		for _, l := range held {
			_ = l.Close()
		}
	}()
	for range n {
		l, err := net.Listen("tcp", hostPort(0))
		if err != nil {
			return nil, fmt.Errorf("looking for a free port on %s: %w", loopback, err)
		}
		held = append(held, l)
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

// frontendPort settles the port that clients dial. A port named by the operator is taken or refused; one that was
// remembered is given up if another program has it by now, since clients look it up.
func frontendPort(named, remembered int) (int, error) {
	if named != 0 {
		return named, free("frontend", named)
	}
	if remembered != 0 && free("frontend", remembered) == nil {
		return remembered, nil
	}
	ports, err := freePorts(1)
	if err != nil {
		return 0, err
	}
	return ports[0], nil
}

func free(what string, port int) error {
	l, err := listen(what, port)
	if err != nil {
		return err
	}
	return l.Close()
}

func listen(what string, port int) (net.Listener, error) {
	l, err := net.Listen("tcp", hostPort(port))
	if errors.Is(err, unix.EADDRINUSE) {
		return nil, fmt.Errorf("listening for the %s on %s: another program has this port: stop it, or configure another port: %w", what, hostPort(port), err)
	}
	if err != nil {
		return nil, fmt.Errorf("listening for the %s on %s: %w", what, hostPort(port), err)
	}
	return l, nil
}
