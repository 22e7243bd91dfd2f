package invoicegen

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
)

// parts of a workbook that do not depend on what is in it.
var workbookParts = [][2]string{
	{"[Content_Types].xml", `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` +
		`<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
		`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
		`<Default Extension="xml" ContentType="application/xml"/>` +
		`<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>` +
		`<Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>` +
		`</Types>`},
	{"_rels/.rels", `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` +
		`<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
		`<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/>` +
		`</Relationships>`},
	{"xl/workbook.xml", `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` +
		`<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" ` +
		`xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">` +
		`<sheets><sheet name="Invoice" sheetId="1" r:id="rId1"/></sheets></workbook>`},
	{"xl/_rels/workbook.xml.rels", `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` +
		`<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
		`<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/>` +
		`</Relationships>`},
}

// workbook writes rows as an XLSX of one sheet, every cell text, empty cells left out. It is written
// by hand: a library would be one that readers use.
func workbook(rows [][]string) []byte {
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	add := func(name, content string) {
		// Writing to memory does not fail.
		part, _ := archive.Create(name)
		_, _ = part.Write([]byte(content))
	}
	for _, part := range workbookParts {
		add(part[0], part[1])
	}
	add("xl/worksheets/sheet1.xml", worksheet(rows))
	_ = archive.Close()
	return out.Bytes()
}

func worksheet(rows [][]string) string {
	var out strings.Builder
	out.WriteString(`<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` +
		`<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>`)
	for i, row := range rows {
		fmt.Fprintf(&out, `<row r="%d">`, i+1)
		for k, value := range row {
			if value == "" {
				continue
			}
			var text bytes.Buffer
			_ = xml.EscapeText(&text, []byte(value))
			fmt.Fprintf(&out, `<c r="%s" t="inlineStr"><is><t xml:space="preserve">%s</t></is></c>`,
				columnLetters(k)+strconv.Itoa(i+1), text.String())
		}
		out.WriteString(`</row>`)
	}
	out.WriteString(`</sheetData></worksheet>`)
	return out.String()
}

// columnLetters names a column as spreadsheets do: A to Z, then AA and on.
func columnLetters(index int) string {
	var letters string
	for index++; index > 0; index = (index - 1) / 26 {
		letters = string(rune('A'+(index-1)%26)) + letters
	}
	return letters
}
