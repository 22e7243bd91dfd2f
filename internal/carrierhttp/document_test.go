package carrierhttp

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
)

func TestDownload(t *testing.T) {
	t.Parallel()
	files := http.NewServeMux()
	files.HandleFunc("/label.pdf", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			w.WriteHeader(http.StatusBadRequest) // Our credentials are none of this host's business.
			return
		}
		_, _ = w.Write([]byte("%PDF-1.7 label"))
	})
	files.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) })
	files.HandleFunc("/long", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("%PDF-" + strings.Repeat("x", maxAnswer)))
	})
	files.Handle("/moved", http.RedirectHandler("/label.pdf", http.StatusFound))
	server := httptest.NewServer(files)
	t.Cleanup(server.Close)
	c, err := New("http://carrier.test")
	require.NoError(t, err)
	t.Cleanup(c.Close)
	allowed := []string{strings.TrimPrefix(server.URL, "http://")}

	d, err := c.Download(t.Context(), server.URL+"/label.pdf", allowed, carrier.PDF)
	require.NoError(t, err)
	require.Equal(t, "%PDF-1.7 label", string(d.Content))

	for address, want := range map[string]string{
		server.URL + "/page":                            "not a file of format pdf",
		server.URL + "/long":                            "above 5 MiB",
		server.URL + "/moved":                           "status 302",
		server.URL + "/absent":                          "status 404",
		"http://169.254.169.254/latest/meta-data":       "does not allow",
		"ftp://" + allowed[0] + "/label.pdf":            "not one to fetch from",
		"http://user:pass@" + allowed[0] + "/label.pdf": "not one to fetch from",
		"://": "not one to fetch from",
	} {
		_, err := c.Download(t.Context(), address, allowed, carrier.PDF)
		require.ErrorContains(t, err, want, address)
		require.NotContains(t, err.Error(), "pass")
	}
}

func TestDocumentOf(t *testing.T) {
	t.Parallel()
	require.Equal(t, carrier.Document{Format: carrier.ZPL, Content: []byte("^XA^XZ")}, DocumentOfBase64(carrier.ZPL, "XlhBXlha"))
	for _, text := range []string{"", "%", "PGh0bWw+"} {
		require.Empty(t, DocumentOfBase64(carrier.ZPL, text).Content)
	}
	require.Empty(t, DocumentOf("gif", []byte("GIF89a")).Content)
}
