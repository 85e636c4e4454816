package study

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Limits of a study file: far above the needs of any study, far below what
// causes harm.
const (
	maxSize  = 1 << 20 // bytes
	maxDepth = 100     // brackets within brackets, or dashes in a line
)

// limit rejects a text that the YAML library could not handle.
func limit(name string, data []byte) error {
	if len(data) > maxSize {
		return fmt.Errorf("%s: %d bytes: a study has at most %d", name, len(data), maxSize)
	}
	depth, number := 0, 0
	for line := range bytes.Lines(data) {
		number++
		indent := len(line) - len(bytes.TrimLeft(line, " -?:\t"))
		for _, c := range line {
			switch c {
			case '[', '{':
				depth++
			case ']', '}':
				depth--
			}
			if depth > maxDepth || indent > 4*maxDepth {
				return fmt.Errorf("%s:%d:1: nested more than %d deep", name, number, maxDepth)
			}
		}
	}
	return nil
}

// renamed maps spellings of older versions to their replacements.
var renamed = map[string]string{
	"trials":    "is now called repetitions",
	"privatize": "is now called settings: train-only, test-only, or local for both",
	"curves":    "is now called mechanisms",
	"mechanism": "is now called name",
	"dimension": "is now called dimensions, a list",
}

// plainInteger is a decimal integer and nothing else: no 010, which YAML reads
// as 8, and no 1.5, which would be cut to 1.
var plainInteger = regexp.MustCompile(`^[+-]?(0|[1-9][0-9]*)$`)

// strict walks a node in parallel with the type that it will be decoded into.
// It rejects old spellings, invalid integers, and numbers outside the field's
// limits.
func (src *source) strict(node ast.Node, into any) error {
	return src.walk(node, reflect.TypeOf(into), "", reflect.StructTag(""))
}

func (src *source) walk(node ast.Node, t reflect.Type, name string, tag reflect.StructTag) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	refuse := func(n ast.Node, format string, args ...any) error {
		p := n.GetToken().Position
		return fmt.Errorf("%s:%d:%d: %s", src.name, p.Line, p.Column, fmt.Sprintf(format, args...))
	}
	switch t.Kind() {
	case reflect.Struct:
		for _, v := range mappings(node) {
			key := v.Key.GetToken().Value
			f, ok := field(t, key)
			if !ok {
				if instead, old := renamed[key]; old {
					return refuse(v.Key, "%s: %s", key, instead)
				}
				continue // left to the decoder
			}
			if err := src.walk(v.Value, f.Type, key, f.Tag); err != nil {
				return err
			}
		}
	case reflect.Slice:
		list, ok := node.(*ast.SequenceNode)
		if !ok {
			return src.walk(node, t.Elem(), name, tag) // a single value where the type accepts one
		}
		for _, v := range list.Values {
			if err := src.walk(v, t.Elem(), name, tag); err != nil {
				return err
			}
		}
	case reflect.Int, reflect.Int64, reflect.Uint64, reflect.Float64:
		text := ""
		switch n := node.(type) {
		case *ast.IntegerNode:
			text = n.GetToken().Value
		case *ast.FloatNode:
			text = n.GetToken().Value
			if t.Kind() == reflect.Float64 {
				return nil
			}
		default:
			if text = node.GetToken().Value; !plainInteger.MatchString(text) {
				return nil // not a number: left to the decoder
			}
		}
		if !plainInteger.MatchString(text) {
			return refuse(node, "%s = %s: must be an integer in decimal digits", name, text)
		}
		if t.Kind() == reflect.Float64 {
			return nil
		}
		var err error
		if t.Kind() == reflect.Uint64 {
			_, err = strconv.ParseUint(strings.TrimPrefix(text, "+"), 10, 64)
		} else {
			_, err = strconv.ParseInt(text, 10, 64)
		}
		if err != nil {
			return refuse(node, "%s = %s: outside what a 64-bit integer holds", name, text)
		}
		low, high, ok := strings.Cut(tag.Get("limits"), ",")
		if !ok {
			return nil
		}
		lo, _ := strconv.ParseInt(low, 10, 64) // tags are constants of this program
		hi, _ := strconv.ParseInt(high, 10, 64)
		if v, _ := strconv.ParseInt(text, 10, 64); v < lo || v > hi {
			return refuse(node, "%s = %s: must be in [%d, %d]", name, text, lo, hi)
		}
	}
	return nil
}

func mappings(node ast.Node) []*ast.MappingValueNode {
	switch n := node.(type) {
	case *ast.MappingNode:
		return n.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}
	}
	return nil
}

// field finds the field of a YAML key, in inline structs too.
func field(t reflect.Type, key string) (reflect.StructField, bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if options == "inline" {
			if inner, ok := field(f.Type, key); ok {
				return inner, true
			}
		} else if name == key {
			return f, true
		}
	}
	return reflect.StructField{}, false
}
