package easypost

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
)

func TestDocumentAddress(t *testing.T) {
	t.Parallel()
	asPNG := postageLabel{URL: "png", FileType: "image/png"}
	asPDF := postageLabel{URL: "pdf", FileType: "application/pdf"}
	converted := postageLabel{URL: "png", FileType: "image/png", PDFURL: "pdf", ZPLURL: "zpl"}
	for name, tt := range map[string]struct {
		label  postageLabel
		format carrier.Format
		want   string
	}{
		"AsOrdered":    {asPNG, carrier.PNG, "png"},
		"PDFAsOrdered": {asPDF, carrier.PDF, "pdf"},
		"Converted":    {converted, carrier.PDF, "pdf"},
		"ConvertedZPL": {converted, carrier.ZPL, "zpl"},
		"NotThere":     {asPNG, carrier.PDF, ""},
		"NoPNGOfAPDF":  {asPDF, carrier.PNG, ""},
		"NoFileType":   {postageLabel{URL: "png"}, "svg", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, tt.label.address(tt.format))
		})
	}
}

// TestDocumentOnlyFromAllowedHosts: the address comes from an answer, and the key never goes there.
func TestDocumentOnlyFromAllowedHosts(t *testing.T) {
	t.Parallel()
	files := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("the key went to another host")
		}
		_, _ = w.Write([]byte("\x89PNG\r\n\x1a\n"))
	}))
	t.Cleanup(files.Close)
	body := `{"id": "shp_1", "postage_label": {"label_url": "` + files.URL + `/1.png", "label_file_type": "image/png"}}`
	a, _ := talk(t, map[string]string{"GET /shipments/shp_1": body})
	r := carrier.DocumentRequest{LabelID: "shp_1", Format: carrier.PNG}
	_, err := a.Document(t.Context(), r)
	require.ErrorContains(t, err, "document_hosts")

	a.cfg.DocumentHosts = []string{files.Listener.Addr().String()}
	d, err := a.Document(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, carrier.PNG, d.Format)

	r.Format = carrier.PDF
	_, err = a.Document(t.Context(), r)
	require.ErrorContains(t, err, "status 404", "it cannot be converted")
	r.LabelID = "../x"
	_, err = a.Document(t.Context(), r)
	require.ErrorContains(t, err, "not an id of this carrier")
}

// TestDocumentIsConverted: some carriers print in one format only, whatever was ordered.
func TestDocumentIsConverted(t *testing.T) {
	t.Parallel()
	const show, convert = "GET /shipments/shp_1", "GET /shipments/shp_1/label?file_format=ZPL"
	asPNG := `{"id": "shp_1", "postage_label": {"label_url": "https://files.example/1.png", "label_file_type": "image/png", "label_zpl_url": null}}`
	r := carrier.DocumentRequest{LabelID: "shp_1", Format: carrier.ZPL}
	for name, tt := range map[string]struct {
		converted string
		want      string // of the error
	}{
		"Converted":    {strings.Replace(asPNG, "null", `"https://other.example/1.zpl"`, 1), `"other.example"`},
		"NotConverted": {asPNG, "no document of format zpl"},
		"OtherLabel":   {strings.Replace(asPNG, "shp_1", "shp_2", 1), "not a shipment with a label"},
		"NotSold":      {`{"id": "shp_1", "postage_label": null}`, "not a shipment with a label"},
	} {
		a, asked := talk(t, map[string]string{show: asPNG, convert: tt.converted})
		_, err := a.Document(t.Context(), r)
		require.ErrorContains(t, err, tt.want, name)
		require.Equal(t, []string{show, convert}, *asked)
	}
}

func TestProbe(t *testing.T) {
	t.Parallel()
	a, asked := talk(t, map[string]string{"GET /shipments?page_size=1&purchased=true": list(false)})
	require.NoError(t, a.Probe(t.Context()))
	require.Len(t, *asked, 1)
	a, _ = talk(t, map[string]string{"GET /shipments?page_size=1&purchased=true": "status 401"})
	require.ErrorContains(t, a.Probe(t.Context()), "status 401")
}
