package results

import "reflect"

// NewRecord returns a record of this schema in which every number that can be
// missing is missing, so a value that was not measured is not read as 0.
func NewRecord() Record {
	r := Record{Schema: SchemaVersion}
	v := reflect.ValueOf(&r).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.Type() == reflect.TypeOf(Missing) {
			f.Set(reflect.ValueOf(Missing))
		}
	}
	return r
}
