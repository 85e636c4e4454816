package study

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"mldpbench/internal/check"
)

// Limits of a study file: far above the needs of any study, far below what
// causes harm.
const (
	maxSize  = 1 << 20 // bytes
	maxDepth = 100     // brackets within brackets, or dashes in a line
	maxKeys  = 4000    // the parser's time grows with the square of their number
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

// limitKeys rejects a text with more keys than the parser can handle: with the
// first unknown one, if it is at the top.
func (src *source) limitKeys(tokens token.Tokens, into reflect.Type) error {
	var keys token.Tokens
	for _, t := range tokens {
		if t.Type == token.MappingValueType && t.Prev != nil {
			keys = append(keys, t.Prev)
		}
	}
	if len(keys) <= maxKeys {
		return nil
	}
	for _, key := range keys {
		if _, known := field(into, key.Value); key.Position.Column == 1 && !known {
			return src.unknown(key, into)
		}
	}
	return src.wrong(keys[maxKeys], "a study has at most %d keys", maxKeys)
}

// plainInteger is a decimal integer and nothing else: no 010, which YAML reads
// as 8, and no 1.5, which would be cut to 1.
var plainInteger = regexp.MustCompile(`^[+-]?(0|[1-9][0-9]*)$`)

// wrong is an error at a token.
func (src *source) wrong(t *token.Token, format string, args ...any) error {
	return fmt.Errorf("%s:%d:%d: %s", src.name, t.Position.Line, t.Position.Column, fmt.Sprintf(format, args...))
}

// unknown is the error of a key that a type does not have.
func (src *source) unknown(key *token.Token, t reflect.Type) error {
	if s := check.Suggest(key.Value, keysOf(t)); s != "" {
		return src.wrong(key, "unknown field %q: did you mean %q? mldp study keys lists all", key.Value, s)
	}
	return src.wrong(key, "unknown field %q", key.Value)
}

// walk visits a node in parallel with the type that it will be decoded into. It
// rejects unknown keys, values of another kind, invalid numbers, and numbers
// outside the field's limits.
func (src *source) walk(node ast.Node, t reflect.Type, name string, tag reflect.StructTag) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	node = src.content(node)
	if node.Type() == ast.NullType {
		return nil // as if it were not there
	}
	_, list := node.(*ast.SequenceNode)
	_, pairs := node.(ast.MapNode)
	if t == reflect.TypeFor[Metrics]() && pairs {
		for _, v := range mappings(node) {
			if m, ok := metrics[v.Key.GetToken().Value]; ok {
				if err := src.walk(v.Value, reflect.TypeOf(m.New()), m.Key, ""); err != nil {
					return err
				}
			}
		}
		return nil
	}
	refuse := func(must string) error { return src.wrong(node.GetToken(), "%s: must be %s", name, must) }
	switch t.Kind() {
	case reflect.Struct:
		if !pairs && !list && reflect.PointerTo(t).Implements(reflect.TypeFor[yaml.InterfaceUnmarshaler]()) {
			return nil // one word stands for a struct that has only its name
		}
		if !pairs {
			return refuse("keys with values")
		}
		return src.fields(node, t)
	case reflect.Map:
		if !pairs {
			return refuse("keys with values")
		}
	case reflect.Slice:
		items, ok := node.(*ast.SequenceNode)
		if !ok && reflect.PointerTo(t).Implements(reflect.TypeFor[yaml.InterfaceUnmarshaler]()) {
			return src.walk(node, t.Elem(), name, tag) // a single value stands for a list of one
		}
		if !ok {
			return refuse("a list")
		}
		for _, v := range items.Values {
			if err := src.walk(v, t.Elem(), strings.TrimSuffix(name, "s"), tag); err != nil {
				return err
			}
		}
	case reflect.Int, reflect.Int64, reflect.Uint64, reflect.Float64:
		if list || pairs {
			return refuse("a number")
		}
		return src.number(node, t.Kind(), name, tag)
	case reflect.Bool:
		if node.Type() != ast.BoolType {
			return refuse("true or false")
		}
	case reflect.String:
		if list || pairs {
			return refuse("one word or text")
		}
	}
	return nil
}

// fields walks the values of a mapping for a struct.
func (src *source) fields(node ast.Node, t reflect.Type) error {
	for _, v := range mappings(node) {
		if v.Key.IsMergeKey() {
			if err := src.walk(v.Value, t, "<<", ""); err != nil {
				return err
			}
			continue
		}
		key := v.Key.GetToken()
		f, ok := field(t, key.Value)
		if !ok {
			return src.unknown(key, t)
		}
		if err := src.walk(v.Value, f.Type, key.Value, f.Tag); err != nil {
			return err
		}
	}
	return nil
}

// content returns what stands behind an anchor or an alias.
func (src *source) content(node ast.Node) ast.Node {
	for range maxDepth { // an alias of itself has no end
		switch n := node.(type) {
		case *ast.AnchorNode:
			src.anchors[n.Name.GetToken().Value] = n.Value
			node = n.Value
		case *ast.AliasNode:
			target, ok := src.anchors[n.Value.GetToken().Value]
			if !ok {
				return node // left to the decoder
			}
			node = target
		default:
			return node
		}
	}
	return node
}

// number validates a number: written without quotes, and an integer in decimal
// digits within the limits of its field where the type is one.
func (src *source) number(node ast.Node, kind reflect.Kind, name string, tag reflect.StructTag) error {
	text := node.GetToken().Value
	refuse := func(format string, args ...any) error {
		return src.wrong(node.GetToken(), "%s = %s: must be %s", name, text, fmt.Sprintf(format, args...))
	}
	_, integer := node.(*ast.IntegerNode)
	if kind == reflect.Float64 {
		_, err := strconv.ParseFloat(text, 64)
		switch quoted := node.GetToken().Type; {
		case quoted == token.SingleQuoteType || quoted == token.DoubleQuoteType:
			return refuse("a number, without quotes")
		case integer && !plainInteger.MatchString(text):
			return refuse("an integer in decimal digits, or a number with a point")
		case errors.Is(err, strconv.ErrRange):
			return refuse("> 0 and finite")
		case node.Type() == ast.StringType && err != nil:
			return refuse("a number")
		}
		return nil
	}
	if !integer || !plainInteger.MatchString(text) {
		return refuse("an integer in decimal digits")
	}
	var err error
	if kind == reflect.Uint64 {
		_, err = strconv.ParseUint(strings.TrimPrefix(text, "+"), 10, 64)
	} else {
		_, err = strconv.ParseInt(text, 10, 64)
	}
	if err != nil {
		return src.wrong(node.GetToken(), "%s = %s: outside what a 64-bit integer holds", name, text)
	}
	low, high, ok := strings.Cut(tag.Get("limits"), ",")
	if !ok {
		return nil
	}
	lo, _ := strconv.ParseInt(low, 10, 64) // tags are constants of this program
	hi, _ := strconv.ParseInt(high, 10, 64)
	if v, _ := strconv.ParseInt(text, 10, 64); v < lo || v > hi {
		return refuse("in [%d, %d]", lo, hi)
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

// keysOf lists the keys of a struct, of inline ones too.
func keysOf(t reflect.Type) []string {
	var keys []string
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if options == "inline" {
			keys = append(keys, keysOf(f.Type)...)
		} else if name != "" && name != "-" {
			keys = append(keys, name)
		}
	}
	return keys
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
