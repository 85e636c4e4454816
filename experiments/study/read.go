package study

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"mldpbench/internal/check"
	"mldpbench/internal/yamlnode"
)

// maxSize of a study file in bytes is far above the needs of any study and below what the parser, whose time grows
// with the square of it, would need minutes for.
const maxSize = 1 << 16

// source is the text of a study, kept for the position of a wrong value.
type source struct {
	name string
	file *ast.File
}

// decode reads one document into a struct. What the library lets pass is found by
// comparing each value with its key.
func decode(filename string, data []byte, into any) (*source, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // a byte order mark
	if len(data) > maxSize {
		return nil, fmt.Errorf("%s: %d bytes: a study has at most %d", filename, len(data), maxSize)
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
	body := file.Docs[0].Body
	if err := src.check(body, Key{typ: reflect.TypeOf(into).Elem()}); err != nil {
		return nil, err
	}
	if err := yaml.NodeToValue(body, into, yaml.Strict()); err != nil {
		return nil, src.position(err)
	}
	return src, nil
}

// position turns an error of the YAML library into "file:line:column: what".
func (src *source) position(err error) error {
	var y yaml.Error
	if errors.As(err, &y) && y.GetToken() != nil {
		return src.wrong(y.GetToken(), "%s", y.GetMessage())
	}
	return fmt.Errorf("%s: %w", src.name, err)
}

// wrong is an error at a token.
func (src *source) wrong(t *token.Token, format string, args ...any) error {
	return fmt.Errorf("%s:%d:%d: %w", src.name, t.Position.Line, t.Position.Column, fmt.Errorf(format, args...))
}

// check compares a value with its key, for what the decoder would take for
// something else: a value of another kind, 010 as 8, 1.5 as 1, "5" in quotes, and
// 0 for a key that is not there.
func (src *source) check(node ast.Node, k Key) error {
	switch n := node.(type) {
	case *ast.NullNode:
		return src.checkNull(n, k)
	case *ast.AnchorNode, *ast.AliasNode:
		return src.wrong(node.GetToken(), "anchors and aliases are not read: write the value out")
	case *ast.TagNode:
		return src.wrong(node.GetToken(), "tags are not read: write the value alone")
	case ast.MapNode:
		if k.kind() == reflect.Struct || k.kind() == reflect.Map {
			return src.checkKeys(n, k)
		}
	case *ast.SequenceNode:
		if k.kind() == reflect.Slice {
			return src.checkEntries(n, k.element())
		}
	default:
		if k.alone {
			return nil // one word stands for it
		}
		if wrong, err := scalar(node, k); err != nil {
			return src.wrong(node.GetToken(), "%w", err)
		} else if !wrong {
			return nil
		}
	}
	if k.kind() == reflect.Interface {
		return nil
	}
	return src.wrong(node.GetToken(), "%s: must be %s", cmp.Or(k.name(), "the file"), inWords(k.kind()))
}

// inWords describes a kind of value.
func inWords(kind reflect.Kind) string {
	switch kind {
	case reflect.Struct, reflect.Map:
		return "keys with values"
	case reflect.Slice:
		return "a list"
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "one word or text"
	}
	return "a number"
}

// checkNull refuses an entry of a list without a value; a key without one is as if it
// were not there.
func (src *source) checkNull(n *ast.NullNode, k Key) error {
	if !k.entry() {
		return nil
	}
	return src.wrong(n.GetToken(), "%s: an entry of the list is empty: give it a value or take it out", k.name())
}

// checkEntries checks the entries of a list.
func (src *source) checkEntries(n *ast.SequenceNode, entry Key) error {
	for i, v := range n.Values {
		if err := src.check(v, entry); err != nil {
			return err
		}
		n.Values[i] = asWritten(v, entry)
	}
	return nil
}

// checkKeys compares the keys of a mapping with those of a type, and their values.
func (src *source) checkKeys(n ast.MapNode, k Key) error {
	if k.free() {
		return nil // names of parameters are those of their owner
	}
	fields := fieldsOf(k)
	for v := n.MapRange(); v.Next(); {
		name := v.Key().GetToken().Value
		at := slices.IndexFunc(fields, func(f Key) bool { return f.name() == name })
		if at < 0 {
			return src.unknown(v.Key().GetToken(), k, fields)
		}
		if err := src.check(v.Value(), fields[at]); err != nil {
			return err
		}
		v.KeyValue().Value = asWritten(v.Value(), fields[at])
	}
	return nil
}

// asWritten is a value of a key; where the key takes text, it is text.
func asWritten(node ast.Node, k Key) ast.Node {
	if k.kind() != reflect.String && !k.alone {
		return node
	}
	return yamlnode.Text(node)
}

// plainInteger is a decimal integer and nothing else: no 010, which YAML reads
// as 8, and no 1.5, which would be cut to 1.
var plainInteger = regexp.MustCompile(`^[+-]?(0|[1-9][0-9]*)$`)

// scalar validates one word or number; wrong says that the key takes another kind.
func scalar(node ast.Node, k Key) (wrong bool, err error) {
	t := node.GetToken()
	refuse := func(must string) error {
		return check.Wrong("%s = %s: must be %s", k.name(), t.Value, must)
	}
	_, integer := node.(*ast.IntegerNode)
	decimal := plainInteger.MatchString(t.Value)
	switch kind := k.kind(); kind {
	case reflect.String:
		if len(k.words) > 0 {
			err = check.OneOf(k.name(), t.Value, k.words...)
		}
		return false, err
	case reflect.Bool:
		return node.Type() != ast.BoolType, nil
	case reflect.Float64:
		v, err := strconv.ParseFloat(strings.TrimPrefix(t.Value, "."), 64) // .nan and .inf
		quoted := t.Type == token.SingleQuoteType || t.Type == token.DoubleQuoteType
		switch {
		case quoted || integer && !decimal || err != nil && !errors.Is(err, strconv.ErrRange):
			return false, refuse("a number in decimal digits, without quotes")
		case k.positive:
			return false, check.Positive(k.name(), v)
		}
		return false, nil
	case reflect.Int, reflect.Uint64:
		if !integer || !decimal {
			return false, refuse("an integer in decimal digits")
		}
		v, err := strconv.ParseInt(t.Value, 10, 64)
		if kind == reflect.Uint64 {
			_, err = strconv.ParseUint(strings.TrimPrefix(t.Value, "+"), 10, 64)
		}
		switch {
		case err != nil:
			return false, check.Wrong("%s = %s: outside what a 64-bit integer holds", k.name(), t.Value)
		case k.Low < k.High && (v < int64(k.Low) || v > int64(k.High)):
			return false, refuse(fmt.Sprintf("in [%d, %d]", k.Low, k.High))
		}
		return false, nil
	}
	return k.kind() != reflect.Interface, nil
}
