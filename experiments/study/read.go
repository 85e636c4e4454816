package study

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
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
	if bytes.Count(data, []byte(":")) > maxKeys {
		return fmt.Errorf("%s: a study has at most %d keys", name, maxKeys)
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

// source is the text of a study, kept for the position of a wrong value.
type source struct {
	name string
	file *ast.File
}

// decode reads one document into a struct. What the library lets pass is found by
// comparing each value with its key.
func decode(filename string, data []byte, into any) (*source, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // a byte order mark
	if err := limit(filename, data); err != nil {
		return nil, err
	}
	src := &source{name: filename}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, src.position(err)
	}
	if len(file.Docs) != 1 || file.Docs[0].Body == nil {
		return nil, fmt.Errorf("%s: must hold exactly one YAML document", filename)
	}
	src.file = file
	values := &valueChecker{src: src, schema: schemaOf(reflect.TypeOf(into).Elem()), anchors: map[string]ast.Node{}}
	values.check(file.Docs[0].Body, "")
	ast.Walk(values, file.Docs[0].Body)
	if values.err != nil {
		return nil, values.err
	}
	if err := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict()).Decode(into); err != nil {
		return nil, src.position(err)
	}
	return src, nil
}

// position turns an error of the YAML library into "file:line:column: what".
func (src *source) position(err error) error {
	var y yaml.Error
	if errors.As(err, &y) {
		message := y.GetMessage()
		if t := y.GetToken(); t != nil && t.Position != nil {
			return src.wrong(t, "%s", message)
		}
		return fmt.Errorf("%s: %s", src.name, message)
	}
	return fmt.Errorf("%s: %w", src.name, err)
}

// wrong is an error at a token.
func (src *source) wrong(t *token.Token, format string, args ...any) error {
	return fmt.Errorf("%s:%d:%d: %w", src.name, t.Position.Line, t.Position.Column, fmt.Errorf(format, args...))
}

// valueChecker visits a study for what the decoder would take for something else: a
// value of another kind, 010 as 8, 1.5 as 1, "5" in quotes, and 0 for a key that
// is not there.
type valueChecker struct {
	src     *source
	schema  map[string]Key
	anchors map[string]ast.Node // met so far
	err     error
}

var index = regexp.MustCompile(`\[\d+\]`)

// pathOf is that of a node as keys have it: datasets[].name.
func pathOf(n ast.Node) string {
	path := strings.ReplaceAll(index.ReplaceAllString(n.GetPath(), "[]"), ".<<", "")
	return strings.TrimPrefix(strings.TrimPrefix(path, "$"), ".")
}

// Visit checks the keys of a mapping and the values of a list.
func (c *valueChecker) Visit(n ast.Node) ast.Visitor {
	if c.err != nil {
		return nil
	}
	switch n := n.(type) {
	case *ast.MappingValueNode:
		if n.Key.IsMergeKey() {
			return c
		}
		path := pathOf(n.Key)
		k, known := c.schema[path]
		if !known {
			c.err = unknown(c.src, c.schema, n.Key.GetToken(), path)
			return nil
		}
		c.check(n.Value, path)
		if k.free() {
			return nil // names of parameters are those of their owner
		}
	case *ast.SequenceNode:
		for _, v := range n.Values {
			c.check(v, pathOf(v))
		}
	}
	return c
}

// content returns what stands behind an anchor or an alias.
func (c *valueChecker) content(node ast.Node) ast.Node {
	for range maxDepth { // an alias of itself has no end
		switch n := node.(type) {
		case *ast.AnchorNode:
			c.anchors[n.Name.GetToken().Value] = n.Value
			node = n.Value
		case *ast.AliasNode:
			target, ok := c.anchors[n.Value.GetToken().Value]
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

// check compares a value with the kind of its key.
func (c *valueChecker) check(node ast.Node, path string) {
	k, known := c.schema[path]
	if node = c.content(node); c.err != nil || !known || node.Type() == ast.NullType {
		return // an unknown key is an error of its own; null is as if it were not there
	}
	name := path[strings.LastIndexByte(path, '.')+1:]
	if one, element := strings.CutSuffix(name, "[]"); element {
		name = strings.TrimSuffix(one, "s")
	}
	_, list := node.(*ast.SequenceNode)
	_, keys := node.(ast.MapNode)
	must := ""
	switch kind := k.kind(); {
	case k.alone && !list && !keys: // one word stands for it
	case (kind == reflect.Struct || kind == reflect.Map) && !keys:
		must = "keys with values"
	case kind == reflect.Slice && !list:
		must = "a list"
	case isNumber(kind) && (list || keys):
		must = "a number"
	case isNumber(kind):
		if err := number(node, k, name); err != nil {
			c.err = c.src.wrong(node.GetToken(), "%w", err)
		}
	case kind == reflect.Bool && node.Type() != ast.BoolType:
		must = "true or false"
	case kind == reflect.String && (list || keys):
		must = "one word or text"
	}
	if must != "" {
		c.err = c.src.wrong(node.GetToken(), "%s: must be %s", cmp.Or(name, "the file"), must)
	}
}

func isNumber(k reflect.Kind) bool {
	return k == reflect.Int || k == reflect.Uint64 || k == reflect.Float64
}

// plainInteger is a decimal integer and nothing else: no 010, which YAML reads
// as 8, and no 1.5, which would be cut to 1.
var plainInteger = regexp.MustCompile(`^[+-]?(0|[1-9][0-9]*)$`)

// number validates a number: written without quotes, and an integer in decimal
// digits within the limits of its key where the key takes one.
func number(node ast.Node, k Key, name string) error {
	text := node.GetToken().Value
	refuse := func(must string) error { return check.Wrong("%s = %s: must be %s", name, text, must) }
	_, integer := node.(*ast.IntegerNode)
	if k.kind() == reflect.Float64 {
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
	if k.kind() == reflect.Uint64 {
		_, err = strconv.ParseUint(strings.TrimPrefix(text, "+"), 10, 64)
	} else {
		_, err = strconv.ParseInt(text, 10, 64)
	}
	if err != nil {
		return check.Wrong("%s = %s: outside what a 64-bit integer holds", name, text)
	}
	if v, _ := strconv.ParseInt(text, 10, 64); k.Low < k.High && (v < int64(k.Low) || v > int64(k.High)) {
		return refuse(fmt.Sprintf("in [%d, %d]", k.Low, k.High))
	}
	return nil
}
