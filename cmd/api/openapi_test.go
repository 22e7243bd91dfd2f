package main

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"waybill/internal/problem"
)

// place is an object of the contract, and where it stands: a JSON pointer. Wherever one is reached by way
// of a reference, it is the place that is referred to.
type place struct {
	at     string
	object map[string]any
}

// contract is the document that is served, with answers' schemas closed: clients pass over members that they
// do not know, but the tests find those that nobody has described.
type contract struct {
	root place

	mu       sync.Mutex // of all that follows
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema

	// produced are the answers that tests have got, spelled as in documented.
	produced map[string]bool
}

var theContract = sync.OnceValue(func() *contract {
	source, err := jsonschema.UnmarshalJSON(bytes.NewReader(contractDocument))
	if err != nil {
		panic(err)
	}
	c := &contract{
		root:     place{"", source.(map[string]any)},
		compiler: jsonschema.NewCompiler(),
		schemas:  map[string]*jsonschema.Schema{},
		produced: map[string]bool{},
	}
	for _, schema := range c.all(c.at(c.root, "components", "schemas")) {
		if _, open := schema.object["additionalProperties"]; !open && schema.object["type"] == "object" {
			schema.object["additionalProperties"] = false
		}
	}
	c.compiler.AssertFormat()
	if err := c.compiler.AddResource("openapi.json", source); err != nil {
		panic(err)
	}
	return c
})

// at goes down from a place, following references. What is not there has no object.
func (c *contract) at(from place, names ...string) place {
	for _, name := range names {
		object, _ := from.object[name].(map[string]any)
		from = place{from.at + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name), object}
		if to, ok := object["$ref"].(string); ok {
			from = c.at(c.root, strings.Split(strings.TrimPrefix(to, "#/"), "/")...)
		}
	}
	return from
}

// all are the objects that an object holds.
func (c *contract) all(from place) map[string]place {
	found := map[string]place{}
	for name := range from.object {
		found[name] = c.at(from, name)
	}
	return found
}

// schema compiles the schema at a place, once.
func (c *contract) schema(p place) *jsonschema.Schema {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.schemas[p.at] == nil {
		c.schemas[p.at] = c.compiler.MustCompile("openapi.json#" + p.at)
	}
	return c.schemas[p.at]
}

// operations are all of them, by method and path: "GET /v1/labels".
func (c *contract) operations() map[string]place {
	found := map[string]place{}
	for name, item := range c.all(c.at(c.root, "paths")) {
		for method, operation := range c.all(item) {
			found[strings.ToUpper(method)+" "+name] = operation
		}
	}
	return found
}

// operation finds the operation of a request, and its name. Where there is none, the place has no object, and
// the name is "unknown" for a path and "other method" for a method.
func (c *contract) operation(r *http.Request) (name string, operation place) {
	name = "unknown"
	for template, item := range c.all(c.at(c.root, "paths")) {
		if path.Clean(r.URL.Path) != r.URL.Path || !matches(template, r.URL.EscapedPath()) {
			continue
		}
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet
		}
		if operation = c.at(item, strings.ToLower(method)); operation.object != nil {
			return method + " " + template, operation
		}
		name = "other method"
	}
	return name, operation
}

// matches tells whether a path is one of a template.
func matches(template, path string) bool {
	want, got := strings.Split(template, "/"), strings.Split(path, "/")
	return slices.EqualFunc(want, got, func(w, g string) bool {
		return w == g || strings.HasPrefix(w, "{") && g != ""
	})
}

// response finds what is documented of an operation's status; of no operation, what is documented for that.
func (c *contract) response(name string, operation place, status int) place {
	switch {
	case name == "unknown" && status == http.StatusNotFound:
		return c.at(c.root, "components", "responses", "NotFound")
	case name == "other method" && status == http.StatusMethodNotAllowed:
		return c.at(c.root, "components", "responses", "MethodNotAllowed")
	}
	return c.at(operation, "responses", strconv.Itoa(status))
}

// codes are the problem codes that a response may bear.
func (c *contract) codes(response place) []string {
	schema := c.at(response, "content", problem.ContentType, "schema").object
	if schema == nil {
		return nil
	}
	narrowed := place{object: schema["allOf"].([]any)[1].(map[string]any)} // beside the schema of all problems
	return texts(c.at(narrowed, "properties", "code").object["enum"])
}

// texts are the strings of a list.
func texts(list any) []string {
	var found []string
	for _, text := range list.([]any) {
		found = append(found, text.(string))
	}
	return found
}

// documented are all answers there are: "POST /v1/labels 400 malformed_json", "GET /healthz 200".
func (c *contract) documented() []string {
	found := []string{"unknown 404 not_found", "other method 405 method_not_allowed"}
	for name, operation := range c.operations() {
		for status, response := range c.all(c.at(operation, "responses")) {
			said := c.codes(response)
			for _, code := range said {
				found = append(found, name+" "+status+" "+code)
			}
			if len(said) == 0 {
				found = append(found, name+" "+status)
			}
		}
	}
	slices.Sort(found)
	return found
}

// requireContract holds an answer against the contract: the status is documented for the operation, the body and
// the headers are as described, and a request that was taken is one that the contract takes.
func requireContract(t *testing.T, r *http.Request, sent string, got answer) {
	t.Helper()
	c := theContract()
	name, operation := c.operation(r)
	response := c.response(name, operation, got.status)
	about := fmt.Sprintf("%s (%s) was answered %d %s", name, r.URL, got.status, got.body)
	require.NotNil(t, response.object, "%s: no such status is documented", about)
	c.requireHeaders(t, response, got, about)
	c.requireBody(t, response, r.Method, got, about)
	if got.status < 300 {
		c.requireRequest(t, r, operation, sent, about)
	}
	produced := fmt.Sprint(name, " ", got.status)
	if got.header.Get("Content-Type") == problem.ContentType && r.Method != http.MethodHead {
		document, err := jsonschema.UnmarshalJSON(strings.NewReader(got.body))
		require.NoError(t, err)
		produced += fmt.Sprint(" ", document.(map[string]any)["code"])
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.produced[produced] = true
}

// serverHeaders are net/http's own, and those that every answer bears by the document's introduction.
var serverHeaders = []string{
	"Cache-Control", "Connection", "Content-Length", "Content-Security-Policy", "Content-Type", "Date", "X-Content-Type-Options",
}

func (c *contract) requireHeaders(t *testing.T, response place, got answer, about string) {
	t.Helper()
	described := c.all(c.at(response, "headers"))
	for name, header := range described {
		text := got.header.Get(name)
		if text == "" {
			require.NotEqual(t, true, header.object["required"], "%s: without %s", about, name)
			continue
		}
		require.NoError(t, c.schema(c.at(header, "schema")).Validate(text), "%s: %s", about, name)
	}
	for name := range got.header {
		_, ok := described[name]
		ok = ok || name == "Etag" && described["ETag"].object != nil || name == "Www-Authenticate" && described["WWW-Authenticate"].object != nil
		require.True(t, ok || slices.Contains(serverHeaders, name), "%s: the header %s is not documented", about, name)
	}
}

func (c *contract) requireBody(t *testing.T, response place, method string, got answer, about string) {
	t.Helper()
	content := c.at(response, "content")
	if content.object == nil {
		require.Empty(t, got.body, about)
		return
	}
	mediaType, _, err := mime.ParseMediaType(got.header.Get("Content-Type"))
	require.NoError(t, err, about)
	require.Contains(t, content.object, mediaType, about)
	schema := c.at(content, mediaType, "schema")
	if method == http.MethodHead || schema.object == nil {
		return
	}
	body, err := jsonschema.UnmarshalJSON(strings.NewReader(got.body))
	require.NoError(t, err, about)
	require.NoError(t, c.schema(schema).Validate(body), about)
}

// requireRequest: what the service takes, the contract must take too.
func (c *contract) requireRequest(t *testing.T, r *http.Request, operation place, sent, about string) {
	t.Helper()
	var known []string
	for i := range operation.object["parameters"].([]any) {
		parameter := c.parameter(operation, i)
		name := parameter.object["name"].(string)
		if parameter.object["in"] == "query" {
			known = append(known, name)
		}
		if parameter.object["in"] == "header" && parameter.object["required"] == true && r.Body != nil {
			require.NoError(t, c.schema(c.at(parameter, "schema")).Validate(r.Header.Get(name)), "%s: %s", about, name)
		}
	}
	require.Subset(t, known, slices.Collect(maps.Keys(r.URL.Query())), about)
	if schema := c.at(operation, "requestBody", "content", "application/json", "schema"); schema.object != nil && sent != "" {
		body, err := jsonschema.UnmarshalJSON(strings.NewReader(sent))
		require.NoError(t, err, about)
		require.NoError(t, c.schema(schema).Validate(body), about)
	}
}

// parameter is an operation's parameter number i.
func (c *contract) parameter(operation place, i int) place {
	to := operation.object["parameters"].([]any)[i].(map[string]any)["$ref"].(string)
	return c.at(c.root, strings.Split(strings.TrimPrefix(to, "#/"), "/")...)
}

// contractTests runs the package's tests, and fails if the contract documents an answer that none of them got.
type contractTests struct{ m *testing.M }

// Run returns the exit status.
func (c contractTests) Run() int {
	status := c.m.Run()
	if status != 0 || !wholePackage() {
		return status
	}
	for _, answer := range theContract().documented() {
		if !theContract().produced[answer] {
			fmt.Fprintf(os.Stderr, "openapi.json documents %q, and no test has got that answer\n", answer)
			status = 1
		}
	}
	return status
}

// wholePackage tells whether all tests were run.
func wholePackage() bool {
	return !slices.ContainsFunc([]string{"run", "skip", "list", "fuzz", "bench"}, func(name string) bool {
		return flag.Lookup("test."+name).Value.String() != ""
	})
}
