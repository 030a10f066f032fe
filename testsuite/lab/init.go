package lab

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// initEnv names the file that tells a freshly started process that it is the
// init of a host, and of which.
const initEnv = "FABRICLAB_HOST"

// hostSpec is what a host's init has to know. All paths are the lab's, as seen
// before the root is changed.
type hostSpec struct {
	Name    string
	State   string   // directory of the host: upper, work, var, root, home, opt, boot_id
	Witness string   // file shared by the hosts with an SM; empty for others
	Daemon  []string // the SSH server; started again when it ends
	Boot    []string // run once after the SSH server
}

// HostMain turns the process into the init of a host if the lab started it as
// one, and then never returns. Programs and tests that start a lab call it
// first thing in main.
func HostMain() {
	file := os.Getenv(initEnv)
	if file == "" || os.Getpid() != 1 {
		return
	}
	os.Clearenv()
	err := hostInit(file)
	fmt.Fprintf(os.Stderr, "host init: %v\n", err)
	os.Exit(1)
}

func hostInit(file string) error {
	// As any init: no signal ends it but those the kernel does not let it refuse.
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM)
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var spec hostSpec
	if err := json.Unmarshal(text, &spec); err != nil {
		return fmt.Errorf("reading %s: %w", file, err)
	}
	if err := makeRoot(spec); err != nil {
		return err
	}
	if err := unix.Sethostname([]byte(spec.Name)); err != nil {
		return fmt.Errorf("setting host name: %w", err)
	}
	return supervise(spec)
}

// makeRoot builds the host's view of the system and moves into it.
func makeRoot(spec hostSpec) error {
	state := func(p string) string { return filepath.Join(spec.State, p) }
	root := state("newroot")
	in := func(p string) string { return filepath.Join(root, p) }
	var errs []error
	mount := func(src, dst, kind string, flags uintptr, data string) {
		if err := unix.Mount(src, dst, kind, flags, data); err != nil {
			errs = append(errs, fmt.Errorf("mounting %s on %s: %w", src, dst, err))
		}
	}
	bind := func(src, dst string) { mount(src, dst, "", unix.MS_BIND|unix.MS_REC, "") }
	overlay := func(lower, dir, dst string) {
		mount("overlay", dst, "overlay", 0, fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", lower, state(dir+"/upper"), state(dir+"/work")))
	}
	mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	overlay("/", "sys", root)
	overlay("/var", "var", in("var"))
	mount("proc", in("proc"), "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	bind(state("boot_id"), in("proc/sys/kernel/random/boot_id"))
	mount("sysfs", in("sys"), "sysfs", unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	mount("tmpfs", in("sys/class"), "tmpfs", 0, "mode=0755,size=1m")
	copyClasses("/sys/class", in("sys/class"))
	for _, class := range []string{"infiniband", "infiniband_mad"} {
		if err := os.Mkdir(in("sys/class/"+class), 0o755); err != nil {
			errs = append(errs, err)
		}
		bind(state("ib/"+class), in("sys/class/"+class))
	}
	mount("tmpfs", in("dev"), "tmpfs", unix.MS_NOSUID, "mode=0755,size=64k")
	errs = append(errs, makeDevices(root))
	if _, err := os.Stat(state("ib/dev")); err == nil {
		errs = append(errs, os.Mkdir(in("dev/infiniband"), 0o755))
		bind(state("ib/dev"), in("dev/infiniband"))
	}
	if _, err := os.Stat(state("ib/readings")); err == nil {
		bind(state("ib/readings"), in("usr/lib/fabriclab/readings"))
	}
	mount("tmpfs", in("run"), "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755,size=8m")
	mount("tmpfs", in("tmp"), "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777,size=64m")
	for _, d := range []string{"root", "home", "opt", "srv"} {
		bind(state(d), in(d))
	}
	for _, d := range []string{"sbin", "bin"} {
		bind("/usr/"+d, in("usr/lib/fabriclab/"+d))
		mount("", in("usr/lib/fabriclab/"+d), "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, "")
	}
	for _, d := range []struct {
		path string
		mode os.FileMode
	}{{"run/sshd", 0o755}, {"run/lock", 0o777}, {"run/umad", 0o777}, {"run/fabriclab", 0o755}} {
		errs = append(errs, os.MkdirAll(in(d.path), d.mode), os.Chmod(in(d.path), d.mode|os.ModeSticky))
	}
	if spec.Witness != "" {
		errs = append(errs, os.WriteFile(in("run/fabriclab/witness"), nil, 0o600))
		bind(spec.Witness, in("run/fabriclab/witness"))
	}
	errs = append(errs, unix.Mkfifo(in("run/initctl"), 0o600))
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("making the root of %s: %w", spec.Name, err)
	}
	if err := os.Chdir(root); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("changing root of %s: %w", spec.Name, err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leaving the old root: %w", err)
	}
	return os.Chdir("/")
}

// copyClasses makes the links of sysfs classes anew in a writable directory,
// so that the adapter's class can be added beside them.
func copyClasses(from, to string) {
	classes, _ := os.ReadDir(from)
	for _, c := range classes {
		if strings.HasPrefix(c.Name(), "infiniband") || os.Mkdir(filepath.Join(to, c.Name()), 0o755) != nil {
			continue
		}
		links, _ := os.ReadDir(filepath.Join(from, c.Name()))
		for _, l := range links {
			if dst, err := os.Readlink(filepath.Join(from, c.Name(), l.Name())); err == nil {
				os.Symlink(dst, filepath.Join(to, c.Name(), l.Name()))
			}
		}
	}
}

func makeDevices(root string) error {
	var errs []error
	dev := filepath.Join(root, "dev")
	for name, minor := range map[string]uint32{"null": 3, "zero": 5, "full": 7, "random": 8, "urandom": 9} {
		errs = append(errs, unix.Mknod(filepath.Join(dev, name), unix.S_IFCHR|0o666, int(unix.Mkdev(1, minor))))
	}
	errs = append(errs, unix.Mknod(filepath.Join(dev, "tty"), unix.S_IFCHR|0o666, int(unix.Mkdev(5, 0))))
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		errs = append(errs, os.Chmod(filepath.Join(dev, name), 0o666))
	}
	for name, to := range map[string]string{"ptmx": "pts/ptmx", "fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"} {
		errs = append(errs, os.Symlink(to, filepath.Join(dev, name)))
	}
	for dir, data := range map[string]string{"pts": "newinstance,ptmxmode=0666,mode=0620,gid=5", "shm": "mode=1777,size=16m"} {
		kind := "tmpfs"
		if dir == "pts" {
			kind = "devpts"
		}
		errs = append(errs, os.Mkdir(filepath.Join(dev, dir), 0o755), unix.Mount(kind, filepath.Join(dev, dir), kind, unix.MS_NOSUID, data))
	}
	return errors.Join(errs...)
}

// supervise is the host's life: keep the SSH server, reap orphans, obey
// reboot and poweroff.
func supervise(spec hostSpec) error {
	env := []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	start := func(argv []string) (int, error) {
		null, err := os.OpenFile("/dev/null", os.O_RDWR, 0)
		if err != nil {
			return 0, err
		}
		defer null.Close()
		log, err := os.OpenFile("/var/log/boot.log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			log = null // a full disk must not keep a host from answering
		} else {
			defer log.Close()
		}
		return syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{
			Dir: "/", Env: env, Files: []uintptr{null.Fd(), log.Fd(), log.Fd()},
			Sys: &syscall.SysProcAttr{Setsid: true},
		})
	}
	daemon, err := start(spec.Daemon)
	if err != nil {
		return fmt.Errorf("starting %s: %w", spec.Daemon[0], err)
	}
	if len(spec.Boot) > 0 {
		if _, err := start(spec.Boot); err != nil {
			return fmt.Errorf("starting %s: %w", spec.Boot[0], err)
		}
	}
	var ending atomic.Bool
	go obey(&ending)
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR:
		case ending.Load():
			if err != nil {
				time.Sleep(10 * time.Millisecond)
			}
		case err != nil || pid == daemon:
			time.Sleep(100 * time.Millisecond)
			if daemon, err = start(spec.Daemon); err != nil {
				time.Sleep(time.Second)
			}
		}
	}
}

// obey reads what reboot and poweroff write to /run/initctl.
func obey(ending *atomic.Bool) {
	for {
		f, err := os.OpenFile("/run/initctl", os.O_RDWR, 0)
		if err != nil {
			time.Sleep(time.Second)
			continue
		}
		sc := bufio.NewScanner(f)
		for sc.Scan() {
			switch sc.Text() {
			case "reboot":
				ending.Store(true)
				shutDown(unix.LINUX_REBOOT_CMD_RESTART)
			case "poweroff":
				ending.Store(true)
				shutDown(unix.LINUX_REBOOT_CMD_POWER_OFF)
			}
		}
		f.Close()
	}
}

// shutDown ends all processes and then the namespace. The kernel turns
// reboot(2) in a pid namespace into a signal that ends its init: SIGHUP for a
// restart, SIGINT for power off (pid_namespaces(7)).
func shutDown(how int) {
	unix.Kill(-1, unix.SIGTERM)
	time.Sleep(500 * time.Millisecond)
	unix.Kill(-1, unix.SIGKILL)
	unix.Reboot(how)
}
