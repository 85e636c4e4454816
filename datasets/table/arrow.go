package table

import (
	"encoding/base64"
	"strings"

	flatbuffers "github.com/google/flatbuffers/go"
)

// Slots of tables of Arrow's Message.fbs and Schema.fbs.
const (
	messageHeader = 2
	schemaFields  = 1
	fieldName     = 0
	fieldMetadata = 6
	metadataKey   = 0
)

// listsItsValues reports whether the schema that Arrow keeps in a Parquet file has all
// values of a column: that of an Enum of polars does, so they are known to who has the
// file, whatever stands in its rows. What is no such schema has no values.
func listsItsValues(schema, column string) bool {
	data, err := base64.StdEncoding.DecodeString(schema)
	if err != nil || len(data) < 12 {
		return false
	}
	message := data[8:] // after a mark and its length
	header := tableAt(flatbuffers.Table{Bytes: message, Pos: flatbuffers.GetUOffsetT(message)}, messageHeader)
	for _, f := range tablesAt(header, schemaFields) {
		if stringAt(f, fieldName) != column {
			continue
		}
		for _, m := range tablesAt(f, fieldMetadata) {
			if strings.Contains(stringAt(m, metadataKey), "ENUM_VALUES") {
				return true
			}
		}
	}
	return false
}

// offsetOf is the place of a slot, 0 where the table lacks it.
func offsetOf(t flatbuffers.Table, slot int) flatbuffers.UOffsetT {
	return flatbuffers.UOffsetT(t.Offset(flatbuffers.VOffsetT(4 + 2*slot)))
}

func tableAt(t flatbuffers.Table, slot int) flatbuffers.Table {
	return flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(t.Pos + offsetOf(t, slot))}
}

func tablesAt(t flatbuffers.Table, slot int) (all []flatbuffers.Table) {
	at := offsetOf(t, slot)
	if at == 0 {
		return nil
	}
	start := t.Vector(at)
	for i := range t.VectorLen(at) {
		element := start + flatbuffers.UOffsetT(4*i)
		all = append(all, flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(element)})
	}
	return all
}

func stringAt(t flatbuffers.Table, slot int) string {
	at := offsetOf(t, slot)
	if at == 0 {
		return ""
	}
	return t.String(at + t.Pos)
}
