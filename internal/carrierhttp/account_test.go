package carrierhttp

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCheckAccount(t *testing.T) {
	t.Parallel()
	require.NoError(t, CheckAccount("sim", "A", "USD"))
	require.EqualError(t, CheckAccount("", "A", "USD"), "carrier's name is empty")
	require.EqualError(t, CheckAccount("sim", "", "USD"), "account is empty")
	for _, currency := range []string{"", "euro", "usd"} {
		require.ErrorContains(t, CheckAccount("sim", "A", currency), "not an ISO 4217 code")
	}
}

func TestCheckServices(t *testing.T) {
	t.Parallel()
	spelt := regexp.MustCompile(`^[a-z]+$`)
	require.NoError(t, CheckServices(nil, spelt, "ground"))
	require.NoError(t, CheckServices([]string{"ground", "express"}, spelt, "ground"))
	require.EqualError(t, CheckServices([]string{"ground", "2"}, spelt, "ground"), `options: services: "2" is not a service such as ground`)
}

func TestCheckHosts(t *testing.T) {
	t.Parallel()
	require.NoError(t, CheckHosts([]string{"files.example.com", "files.example.com:8443", "[2001:db8::1]:443"}))
	for _, host := range []string{
		"", "https://files.example.com", "files.example.com/labels", "user@files.example.com", "files.example.com?x", "*", ":443", "a b",
	} {
		require.ErrorContains(t, CheckHosts([]string{"files.example.com", host}), "must be a host alone", host)
	}
}
