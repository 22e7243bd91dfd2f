package testdb

import (
	"errors"
	"testing"
)

// MakeAndDrop is what a test pays for its database.
func MakeAndDrop(t testing.TB) error {
	server := serverURL(t)
	template, err := templateOf(t.Context(), server)
	if err != nil {
		return err
	}
	const name = "waybill_test_price"
	return errors.Join(copyDatabase(t.Context(), server, template, name), drop(t.Context(), server, name))
}
