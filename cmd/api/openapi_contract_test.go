package main

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"waybill/caller"
	"waybill/carrier"
	"waybill/carrier/catalog"
	"waybill/internal/problem"
)

func TestContractDocument(t *testing.T) {
	t.Parallel()

	// The schema is the OpenAPI Initiative's own, of 2022-10-07.
	t.Run("IsOpenAPI", func(t *testing.T) {
		t.Parallel()
		text, err := os.ReadFile("testdata/openapi-3.1.schema.json")
		require.NoError(t, err)
		rules, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		require.NoError(t, err)
		compiler := jsonschema.NewCompiler()
		require.NoError(t, compiler.AddResource("rules.json", rules))
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(contractDocument))
		require.NoError(t, err)
		require.NoError(t, compiler.MustCompile("rules.json").Validate(document))
	})

	t.Run("RefersToWhatIsThereAndToAllOfIt", func(t *testing.T) {
		t.Parallel()
		c := theContract()
		referred := map[string]bool{"#/components/responses/MethodNotAllowed": true} // by the introduction
		references(c.root.object, referred)
		for kind, components := range c.all(c.at(c.root, "components")) {
			for name, component := range c.all(components) {
				require.NotNil(t, component.object)
				used := referred["#/components/"+kind+"/"+name]
				require.True(t, used || kind == "securitySchemes", "nothing refers to %s %s", kind, name)
				delete(referred, "#/components/"+kind+"/"+name)
			}
		}
		delete(referred, "#/components/responses/MethodNotAllowed")
		require.Empty(t, referred, "these are not there")
	})

	t.Run("HasSchemasThatTakeTheirOwnExamples", func(t *testing.T) {
		t.Parallel()
		c := theContract()
		for name, component := range c.all(c.at(c.root, "components", "schemas")) {
			schema := c.schema(component)
			require.NotEmpty(t, component.object["description"], name)
			examples, _ := component.object["examples"].([]any)
			for _, example := range examples {
				require.NoError(t, schema.Validate(example), name)
			}
		}
	})

	t.Run("HasTheServicesRoutesAndScopes", func(t *testing.T) {
		t.Parallel()
		operations := theContract().operations()
		for _, rt := range new(api).routes() {
			name := rt.method + " " + rt.path
			require.Contains(t, operations, name)
			operation := operations[name].object
			require.Equal(t, rt.scope != "", len(operation["security"].([]any)) > 0, name)
			says := "Needs no API key."
			if rt.scope != "" {
				says = fmt.Sprintf("Needs the scope `%s`.", rt.scope)
			}
			require.Contains(t, operation["description"], says, name)
		}
		require.Len(t, operations, len(new(api).routes()))
	})

	t.Run("HasTheServicesCodesAndNoOther", func(t *testing.T) {
		t.Parallel()
		c := theContract()
		var known []string
		for _, code := range problem.Codes() {
			known = append(known, string(code))
		}
		require.ElementsMatch(t, known, texts(c.at(c.root, "components", "schemas", "ProblemCode").object["enum"]))
		answered := map[string]bool{}
		for _, answer := range c.documented() {
			words := strings.Fields(answer)
			code := words[len(words)-1]
			if slices.Contains(known, code) {
				answered[code] = true
				require.Equal(t, fmt.Sprint(problem.New(problem.Code(code), "").Status), words[len(words)-2], answer)
			}
		}
		require.ElementsMatch(t, known, slices.Collect(maps.Keys(answered)))
	})

	t.Run("HasTheServicesCountries", func(t *testing.T) {
		t.Parallel()
		c := theContract()
		require.Equal(t, strings.Fields(countries), texts(c.at(c.root, "components", "schemas", "Country").object["enum"]))
	})
}

// references gathers what is referred to.
func references(node any, found map[string]bool) {
	switch node := node.(type) {
	case map[string]any:
		if to, ok := node["$ref"].(string); ok {
			found[to] = true
		}
		for _, child := range node {
			references(child, found)
		}
	case []any:
		for _, child := range node {
			references(child, found)
		}
	}
}

func TestContractIsServed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got := b.get(t, contractPath, without("Authorization"))
	require.Equal(t, http.StatusOK, got.status)
	require.Equal(t, "application/json", got.header.Get("Content-Type"))
	require.Equal(t, string(contractDocument), got.body)
}

// ask sends an operation's request, with all that the operation needs of headers.
func (b *testBundle) ask(t *testing.T, name, body string, changes ...change) answer {
	t.Helper()
	method, path, _ := strings.Cut(name, " ")
	path = strings.NewReplacer("{label_id}", uuid.NewString(), "{intent_id}", uuid.NewString()).Replace(path)
	return b.do(t, method, path, body, append([]change{
		header("Content-Type", "application/json"), header(keyHeader, uuid.NewString()), ifMatch(`"v1"`),
	}, changes...)...)
}

// operationsWith are the names of the operations that have a member, or document a status.
func operationsWith(what string) []string {
	var found []string
	for name, operation := range theContract().operations() {
		if operation.object[what] != nil || theContract().at(operation, "responses", what).object != nil {
			found = append(found, name)
		}
	}
	return found
}

// TestEveryOperationFails: what can befall any operation is answered alike by each.
func TestEveryOperationFails(t *testing.T) {
	t.Parallel()
	requireAll := func(t *testing.T, b *testBundle, status string, code problem.Code) {
		t.Helper()
		for _, name := range operationsWith(status) {
			if name != "GET /readyz" { // TestHealth
				b.ask(t, name, "{}").requireProblem(t, code)
			}
		}
	}

	t.Run("ByAFaultOfOurs", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.api.keys = nil
		requireAll(t, b, "500", problem.Internal)
	})

	t.Run("WithoutTheDatabase", func(t *testing.T) {
		t.Parallel()
		nowhere, err := pgxpool.New(t.Context(), "postgres://127.0.0.1:1/nothing")
		require.NoError(t, err)
		t.Cleanup(nowhere.Close)
		b := setup(t)
		b.api.keys = caller.New(nowhere, time.Now)
		requireAll(t, b, "503", problem.Unavailable)
	})

	t.Run("InAFloodOfKeysNeverSeen", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		now := time.Now()
		b.api.keys = caller.New(b.pool, func() time.Time { return now })
		require.Eventually(t, func() bool {
			_, err := b.api.keys.Authenticate(t.Context(), "Bearer "+b.newKey(t, "fulfilment", caller.LabelsRead))
			return err != nil
		}, time.Minute, time.Microsecond)
		requireAll(t, b, "503", problem.Overloaded)
	})

	t.Run("BeyondTheCallersShare", func(t *testing.T) {
		t.Parallel()
		b := setup(t, func(a *api) { a.limits = newLimiter(1e-9, time.Now) })
		require.NoError(t, b.api.limits.take("fulfilment"))
		requireAll(t, b, "429", problem.RateLimited)
	})
}

// TestEveryBodyFails: what can be wrong with any body is refused alike by each operation that reads one.
func TestEveryBodyFails(t *testing.T) {
	t.Parallel()
	b := setup(t, func(a *api) { a.bodyTimeout = 300 * time.Millisecond })
	for _, name := range operationsWith("requestBody") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b.ask(t, name, "{").requireProblem(t, problem.MalformedJSON)
			b.ask(t, name, strings.Repeat(" ", maxBody+1)).requireProblem(t, problem.BodyTooLarge)
			b.ask(t, name, "{}", header("Content-Type", "text/json")).requireProblem(t, problem.UnsupportedMediaType)
			slow := strings.Replace(b.head(order{key: uuid.NewString()}, `If-Match: "v1"`, "Content-Length: 9"),
				"POST /v1/labels", strings.Replace(name, "{label_id}", uuid.NewString(), 1), 1) + "{"
			got := b.raw(t, slow, 1)
			require.Len(t, got, 1)
			got[0].requireProblem(t, problem.RequestTimeout)
		})
	}
	b.ask(t, "DELETE /v1/labels/{label_id}", "", header("If-None-Match", `"v1"`)).requireProblem(t, problem.InvalidRequest)
}

// edit spells an object with some members changed: a name, and its value as JSON, or "" to leave it out.
func edit(object map[string]string, changes ...string) string {
	object = maps.Clone(object)
	for i := 0; i < len(changes); i += 2 {
		object[changes[i]] = changes[i+1]
	}
	var members []string
	for name, value := range object {
		if value != "" {
			members = append(members, fmt.Sprintf("%q: %s", name, value))
		}
	}
	return "{" + strings.Join(members, ", ") + "}"
}

var (
	someAddress = map[string]string{
		"name": `"Bob"`, "street1": `"2 Low St"`, "city": `"Reno"`, "state": `"NV"`, "postal_code": `"89501"`, "country": `"US"`,
	}
	someRequest = map[string]string{
		"order_id": "1", "parcel_no": "1", "service": `"ground"`, "weight_g": "1450", "ship_to": edit(someAddress),
	}
	someDimensions = map[string]string{"length": "300", "width": "200", "height": "120"}
)

// TestContractAndServiceTakeTheSameRequests sends bodies that the contract takes, and bodies that it does not.
func TestContractAndServiceTakeTheSameRequests(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := theContract()
	schema := c.schema(c.at(c.root, "components", "schemas", "LabelRequest"))
	to := func(changes ...string) []string { return []string{"ship_to", edit(someAddress, changes...)} }
	parcel := func(changes ...string) []string { return []string{"dimensions_mm", edit(someDimensions, changes...)} }
	for name, changes := range map[string][]string{
		"GreatestOrder": {"order_id", "9223372036854775807"}, "GreatestParcel": {"parcel_no", "2147483647"},
		"VersionOne": {"label_version", "1"}, "Carrier": {"carrier", `"sim"`}, "OneGram": {"weight_g", "1"},
		"PDF": {"label_format", `"pdf"`}, "PNG": {"label_format", `"png"`}, "ZPL": {"label_format", `"zpl"`},
		"OneCent": {"max_cost_cents", "1"}, "GreatestCost": {"max_cost_cents", "10000000"},
		"Dimensions": parcel(), "OneMillimetre": parcel("height", "1"), "Sender": {"ship_from", edit(someAddress)},
		"Company": to("company", `"Mill"`), "Phone": to("phone", `"1"`), "NameAndEmptyCompany": to("company", `""`), "EmptyStreet2": to("street2", `""`), "EmptyPhone": to("phone", `""`),
		"Canada": to("country", `"CA"`), "Accents": to("city", `"Zürich"`), "Escapes": to("street1", `"2 Low\u002fSt \"A\""`),
		"SpaceAround": to("name", `" Bob "`),
	} {
		t.Run("Takes"+name, func(t *testing.T) {
			t.Parallel()
			o := b.order()
			if changes[0] != "order_id" {
				changes = append(slices.Clone(changes), "order_id", fmt.Sprint(o.id))
			}
			o.body = edit(someRequest, changes...)
			require.NoError(t, validate(t, schema, o.body))
			require.Equal(t, http.StatusAccepted, b.post(t, o).status)
		})
	}
	for name, changes := range map[string][]string{
		"NoOrder": {"order_id", ""}, "OrderZero": {"order_id", "0"}, "OrderTooGreat": {"order_id", "9223372036854775808"},
		"OrderInText": {"order_id", `"1"`}, "HalfAnOrder": {"order_id", "1.5"}, "NullOrder": {"order_id", "null"},
		"NoParcel": {"parcel_no", ""}, "ParcelTooGreat": {"parcel_no", "2147483648"}, "VersionZero": {"label_version", "0"},
		"VersionTooGreat": {"label_version", "2147483648"}, "NoService": {"service", ""}, "BlankService": {"service", `" "`},
		"EmptyCarrier": {"carrier", `""`}, "NullCarrier": {"carrier", "null"}, "NoWeight": {"weight_g", ""},
		"NoMass": {"weight_g", "0"}, "TooHeavy": {"weight_g", "1000001"}, "OtherFormat": {"label_format", `"gif"`},
		"FormatInCapitals": {"label_format", `"PDF"`}, "NoCost": {"max_cost_cents", "0"}, "TooDear": {"max_cost_cents", "10000001"},
		"UnknownMember": {"colour", `"red"`}, "MemberInCapitals": {"Service", `"ground"`}, "NoRecipient": {"ship_to", ""},
		"RecipientInText": {"ship_to", `"Bob"`}, "NoLength": parcel("length", ""), "NoHeight": parcel("height", "0"),
		"TooLong": parcel("length", "100001"), "UnknownDimension": parcel("depth", "1"), "Nobody": to("name", ""),
		"BlankName": to("name", `"  "`), "NoStreet": to("street1", ""), "BlankStreet": to("street1", `" "`), "NoCity": to("city", ""),
		"NoCountry": to("country", ""), "NoSuchCountry": to("country", `"XX"`), "CountryInLowerCase": to("country", `"us"`),
		"LineTooLong": to("street2", `"`+strings.Repeat("x", maxText+1)+`"`), "NUL": to("city", `"Re\u0000no"`),
		"LineBreak": to("street2", `"a\nb"`), "Reversed": to("name", `"Bob\u202e"`), "Isolated": to("name", `"Bob\u2066"`), "C1": to("city", `"\u0085Reno"`),
		"UnknownLine": to("planet", `"Earth"`), "SenderWithoutStreet": {"ship_from", edit(someAddress, "street1", "")},
	} {
		t.Run("Refuses"+name, func(t *testing.T) {
			t.Parallel()
			o := b.order()
			o.body = edit(someRequest, changes...)
			require.Error(t, validate(t, schema, o.body))
			b.post(t, o).requireProblem(t, problem.InvalidRequest)
		})
	}
}

func validate(t *testing.T, schema *jsonschema.Schema, body string) error {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(body))
	require.NoError(t, err)
	return schema.Validate(value)
}

// TestContractHasTheServicesLimits goes to each limit and one further. The carriers' own limits are narrower, so it
// asks what is said before any carrier is.
func TestContractHasTheServicesLimits(t *testing.T) {
	t.Parallel()
	text := func(n int) string { return `"` + strings.Repeat("é", n) + `"` }
	number := func(n int) string { return fmt.Sprint(n) }
	within := func(member, line string, object map[string]string, value func(int) string) func(int) string {
		return func(n int) string { return edit(someRequest, member, edit(object, line, value(n))) }
	}
	for name, tt := range map[string]struct {
		most int
		body func(n int) string
		says func(t *testing.T, body string) faults
	}{
		"WeightG":      {maxWeightG, func(n int) string { return edit(someRequest, "weight_g", number(n)) }, ordered},
		"MaxCostCents": {maxCostCents, func(n int) string { return edit(someRequest, "max_cost_cents", number(n)) }, ordered},
		"Service":      {maxName, func(n int) string { return edit(someRequest, "service", text(n)) }, ordered},
		"Length":       {maxLengthMM, within("dimensions_mm", "length", someDimensions, number), ordered},
		"Width":        {maxLengthMM, within("dimensions_mm", "width", someDimensions, number), ordered},
		"Email":        {maxText, within("ship_to", "email", someAddress, text), ordered},
		"Sender":       {maxText, within("ship_from", "name", someAddress, text), ordered},
		"Note":         {maxNote, func(n int) string { return `{"note": ` + text(n) + `}` }, patched},
		"Reference":    {maxCustomReference, func(n int) string { return `{"custom_reference": ` + text(n) + `}` }, patched},
		"PatchWeightG": {maxWeightG, func(n int) string { return `{"weight_g": ` + number(n) + `}` }, patched},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Empty(t, tt.says(t, tt.body(tt.most)))
			require.NotEmpty(t, tt.says(t, tt.body(tt.most+1)))
		})
	}
	for _, body := range []string{
		`{}`, `{"note": null}`, `{"note": 1}`, `{"note": "a\u0007"}`, `{"weight_g": 0}`, `{"held": true}`, `true`,
	} {
		require.NotEmpty(t, patched(t, body), body)
	}
	for _, body := range []string{`{}`, `{"on": null}`, `{"on": 1}`, `{"on": true, "until": 1}`, `[]`} {
		require.NotEmpty(t, held(t, body), body)
	}
	for _, name := range []string{"", `""`} { // which the simulated carrier does not take
		require.Empty(t, ordered(t, edit(someRequest, "ship_to", edit(someAddress, "name", name, "company", `"Mill"`))))
	}
	require.Empty(t, held(t, `{"on": false}`))
	require.Empty(t, patched(t, `{"note": "", "custom_reference": ""}`))
}

// ordered is what the service says of a request for a label before it asks a carrier; the contract must say alike.
func ordered(t *testing.T, body string) faults {
	t.Helper()
	var r labelRequest
	found, err := decodeStrict([]byte(body), &r)
	require.NoError(t, err)
	r.validate(&found, &catalog.Catalog{DefaultShipFrom: &carrier.Address{}})
	found = slices.DeleteFunc(found, func(f carrier.FieldError) bool { return f.Pointer == "/carrier" }) // there is none
	requireAlike(t, "LabelRequest", body, found)
	return found
}

func patched(t *testing.T, body string) faults {
	t.Helper()
	return changed(t, "PatchRequest", &patchRequest{}, body)
}

func held(t *testing.T, body string) faults {
	t.Helper()
	return changed(t, "HoldRequest", &holdRequest{}, body)
}

// changed is what the service says of a request for a change; the contract must say alike.
func changed(t *testing.T, schema string, into changeBody, body string) faults {
	t.Helper()
	found, err := decodeStrict([]byte(body), into)
	require.NoError(t, err)
	into.validate(&found)
	requireAlike(t, schema, body, found)
	return found
}

func requireAlike(t *testing.T, schema, body string, found faults) {
	t.Helper()
	c := theContract()
	err := validate(t, c.schema(c.at(c.root, "components", "schemas", schema)), body)
	require.Equal(t, len(found) == 0, err == nil, "%s: the service says %v, the contract %v", body, found, err)
}
