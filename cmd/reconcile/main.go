// Command reconcile compares carriers' invoices with what was bought, and what was bought with our
// own records of it. It reads files and one snapshot of the database, writes a report, and says by
// its exit status whether somebody has to look. It calls no carrier and changes nothing.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	_ "time/tzdata" // Time zones work in an image that has none.

	"github.com/alecthomas/kong"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	cancel()
	os.Exit(code)
}

// Exit statuses. A night's job acts on them, so they are part of the contract.
const (
	exitClean    = 0
	exitFindings = 1
	exitUsage    = 2
	exitInput    = 3
	exitInternal = 4
)

// failure is an error that knows its exit status; any other error is internal.
type failure struct {
	status int
	err    error
}

func (f *failure) Error() string { return f.err.Error() }

func (f *failure) Unwrap() error { return f.err }

func usageError(err error) error { return &failure{status: exitUsage, err: err} }

func inputError(err error) error { return &failure{status: exitInput, err: err} }

// exit is thrown where kong would end the process, after --help.
type exit int

// run is the program without its globals; it returns the exit status.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) (status int) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case exit:
			status = int(p)
		default:
			panic(p)
		}
	}()
	var c commands
	parser, err := newParser(&c, getenv, stdout, stderr)
	if err != nil {
		fmt.Fprintf(stderr, "reconcile: %v\n", err)
		return exitInternal
	}
	if _, err := parser.Parse(args); err != nil {
		fmt.Fprintf(stderr, "reconcile: %v\nSee reconcile run --help.\n", err)
		return exitUsage
	}
	status, err = c.Run.run(ctx, stdout)
	if err != nil {
		fmt.Fprintf(stderr, "reconcile: %v\n", err)
		var known *failure
		if errors.As(err, &known) {
			return known.status
		}
		return exitInternal
	}
	return status
}

func newParser(c *commands, getenv func(string) string, stdout, stderr io.Writer) (*kong.Kong, error) {
	names := map[*kong.Value][]string{}
	return kong.New(c,
		kong.Name("reconcile"),
		kong.Description("Compares carriers' invoices with the labels that Waybill bought, every night."),
		kong.Writers(stdout, stderr),
		kong.Exit(func(code int) { panic(exit(code)) }),
		takeEnvironment(names),
		kong.Resolvers(environment(names, getenv)),
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
