package task

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"

	"mldpbench/datasets"
	"mldpbench/datasets/fetch"
	"mldpbench/datasets/textio"
	"mldpbench/stream"
)

// croissantContext maps the terms of Croissant 1.0 (MLCommons, §Appendix 1).
var croissantContext = map[string]any{
	"@language": "en", "@vocab": "https://schema.org/", "cr": "http://mlcommons.org/croissant/",
	"sc": "https://schema.org/", "dct": "http://purl.org/dc/terms/", "citeAs": "cr:citeAs", "column": "cr:column",
	"conformsTo": "dct:conformsTo", "data": map[string]string{"@id": "cr:data", "@type": "@json"},
	"dataType": map[string]string{"@id": "cr:dataType", "@type": "@vocab"}, "extract": "cr:extract",
	"field": "cr:field", "fileObject": "cr:fileObject", "md5": "cr:md5", "recordSet": "cr:recordSet",
	"source": "cr:source",
}

type object = map[string]any

// Croissant returns the metadata of the task's data as JSON-LD of Croissant 1.0:
// files with the checksums that are published, and the fields of a document.
func (t *Task) Croissant() ([]byte, error) {
	names, err := datasets.Needs(t.Data.Request("", stream.Seed{}))
	if err != nil {
		return nil, err
	}
	licence, citation := t.Licence, t.Citation
	var files []object
	for _, name := range names {
		e, err := fetch.Find(name)
		if err != nil {
			return nil, err
		}
		if name == t.Data.Name || licence == "" {
			licence = cmp.Or(t.Licence, e.Licence)
		}
		citation = cmp.Or(citation, e.Citation)
		for _, d := range e.Downloads {
			o := fileObject(d.File, d.URL)
			if d.Bytes > 0 {
				o["contentSize"] = fmt.Sprintf("%d B", d.Bytes)
			}
			switch {
			case d.SHA256 != "":
				o["sha256"] = d.SHA256
			case d.MD5 != "":
				o["md5"] = d.MD5
			default:
				o["description"] = "no checksum is published"
			}
			files = append(files, o)
		}
		if len(e.Downloads) == 0 {
			o := fileObject(e.Accept[e.Parts()[0]][0], "")
			o["description"] = e.Manual
			files = append(files, o)
		}
	}
	if t.Data.File != "" {
		o := fileObject(t.Data.File, "")
		o["description"] = t.Get
		files = append([]object{o}, files...)
	}
	var fields []object
	field := func(name, about, column string) {
		f := object{"@type": "cr:Field", "@id": "documents/" + name, "name": name, "description": about,
			"dataType": "sc:Text"}
		if column != "" {
			f["source"] = object{"fileObject": object{"@id": t.Data.File}, "extract": object{"column": column}}
		}
		fields = append(fields, f)
	}
	for i, column := range t.Data.Text {
		field(fmt.Sprintf("text%s", []string{"", fmt.Sprint(i + 1)}[min(i, 1)]), "the text", column)
	}
	if t.Data.File == "" {
		field("text", "the text", "")
	}
	if t.Data.File == "" || t.Data.Label != "" {
		field("label", t.Use, t.Data.Label)
	}
	if t.Data.Private != "" {
		field("private", t.Private, t.Data.Private)
	}
	split := object{"@type": "cr:Field", "@id": "documents/split", "name": "split", "dataType": "sc:Text",
		"description": "train, validation or test, by the first 8 bytes of SHA-256 of \"split\", a line feed and the text, " +
			"modulo 100: below 20 test, below 30 validation, else train"}
	doc := object{
		"@context": croissantContext, "@type": "sc:Dataset", "conformsTo": "http://mlcommons.org/croissant/1.0",
		"name": t.Name, "version": fmt.Sprintf("%d.0.0", t.Version), "description": t.Title + ". " + t.About,
		"citeAs": citation, "license": cmp.Or(licence, "not stated"), "identifier": t.Ref(Full),
		"distribution": files, "recordSet": []object{{"@type": "cr:RecordSet", "@id": "documents", "name": "documents",
			"field": append(fields, split)}},
	}
	if len(files) > 0 && files[0]["contentUrl"] != "" {
		doc["url"] = files[0]["contentUrl"]
	}
	return json.MarshalIndent(doc, "", "  ")
}

func fileObject(file, url string) object {
	kinds := map[string]string{"csv": "text/csv", "tsv": "text/tab-separated-values", "jsonl": "application/jsonlines",
		"json": "application/json", "parquet": "application/vnd.apache.parquet"}
	return object{"@type": "cr:FileObject", "@id": file, "name": filepath.Base(file), "contentUrl": url,
		"encodingFormat": cmp.Or(kinds[string(textio.FormatOf(file))], "application/octet-stream")}
}
