// Command api is the HTTP side of Waybill: it authenticates, decodes, validates, hands the request to
// outbox in one call, and writes the answer. It also migrates the database and makes API keys. It
// calls no carrier and holds no SQL.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	cancel()
	os.Exit(code)
}

// Exit statuses.
const (
	exitOK    = 0
	exitError = 1
	exitUsage = 2
)

// process is what a command may use of the world. A cancelled ctx asks it to stop.
type process struct {
	ctx    context.Context //nolint:containedctx // Commands are methods kong calls with one argument.
	getenv func(string) string
	stdout io.Writer
	stderr io.Writer
	now    func() time.Time
}

// exit is thrown where kong would end the process, after --help.
type exit int

// run is the program without its globals; it returns the exit status.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) (code int) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case exit:
			code = int(p)
		default:
			panic(p)
		}
	}()
	p := &process{ctx: ctx, getenv: getenv, stdout: stdout, stderr: stderr, now: time.Now}
	parser, err := newParser(p)
	if err != nil {
		fmt.Fprintf(stderr, "api: %v\n", err)
		return exitError
	}
	command, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(stderr, "api: %v\nSee api --help.\n", err)
		return exitUsage
	}
	if err := command.Run(p); err != nil {
		fmt.Fprintf(stderr, "api: %v\n", err)
		return exitError
	}
	return exitOK
}

func newParser(p *process) (*kong.Kong, error) {
	names := map[*kong.Value][]string{}
	return kong.New(&commands{},
		kong.Name("api"),
		kong.Description("Waybill's API buys shipping labels exactly once. Start with: api migrate, "+
			"api keys create --caller NAME --scopes labels:write,labels:read, api serve."),
		kong.Writers(p.stdout, p.stderr),
		kong.Exit(func(code int) { panic(exit(code)) }),
		kong.UsageOnError(),
		takeEnvironment(names),
		kong.Resolvers(environment(names, p.getenv)),
		kong.ValueFormatter(func(v *kong.Value) string {
			if len(names[v]) == 0 {
				return v.Help
			}
			return fmt.Sprintf("%s ($%s)", v.Help, strings.Join(names[v], ", $"))
		}),
	)
}

// takeEnvironment takes the environment's names away from kong, which would read the real
// environment whatever getenv says.
func takeEnvironment(names map[*kong.Value][]string) kong.Option {
	return kong.PostBuild(func(k *kong.Kong) error {
		return kong.Visit(k.Model, func(node kong.Visitable, next kong.Next) error {
			if flag, ok := node.(*kong.Flag); ok {
				names[flag.Value] = flag.Tag.Envs
				flag.Tag.Envs = nil
				flag.Envs = nil
			}
			return next(nil)
		})
	})
}

// environment resolves flags that were not given; an empty variable counts as unset.
func environment(names map[*kong.Value][]string, getenv func(string) string) kong.Resolver {
	return kong.ResolverFunc(func(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
		for _, name := range names[flag.Value] {
			if text := getenv(name); text != "" {
				return text, nil
			}
		}
		return nil, nil //nolint:nilnil // kong's way to say "not set here".
	})
}
