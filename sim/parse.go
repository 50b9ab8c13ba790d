package sim

import (
	"encoding"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Parse reads a scenario from YAML; what it leaves out is as in Default. name
// stands for it in messages. It is strict: a key that is not known is an error.
// The error is a *Fault that names the line and the key.
func Parse(text []byte, name string) (*Scenario, error) {
	s := Default()
	p := parse{lines: map[string]int{}}
	err := p.file(text, &s)
	if err == nil {
		err = s.check()
	}
	if err == nil {
		return &s, nil
	}
	err.File = name
	for key := err.Key; err.Line == 0 && key != ""; key = parent(key) {
		err.Line = p.lines[key]
	}
	return nil, err
}

// parent is the key that a key stands under.
func parent(key string) string { return key[:max(strings.LastIndexAny(key, ".["), 0)] }

// parse fills a struct from the tree of a YAML file. The decoders of libraries
// do not tell which key a bad value belongs to, nor on which line.
type parse struct {
	lines map[string]int // of each key
}

func (p *parse) file(text []byte, s *Scenario) *Fault {
	f := p.document(text, s)
	if _, given := p.lines["links"]; !given && len(s.Paths) > 0 {
		s.Links = nil // the default
	}
	return f
}

// document fills the struct that v points to.
func (p *parse) document(text []byte, v any) *Fault {
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		f := fault("", "%s", strings.SplitN(err.Error(), "\n", 2)[0])
		if e := yaml.Error(nil); asYAML(err, &e) && e.GetToken() != nil && e.GetToken().Position != nil {
			f.Line, f.Msg = e.GetToken().Position.Line, e.GetMessage()
		}
		return f
	}
	switch {
	case len(file.Docs) > 1:
		return fault("", "want one YAML document, not %d", len(file.Docs))
	case len(file.Docs) == 0 || file.Docs[0].Body == nil || file.Docs[0].Body.Type() == ast.NullType || file.Docs[0].Body.Type() == ast.CommentType:
		return fault("", "empty")
	}
	return p.value(file.Docs[0].Body, reflect.ValueOf(v).Elem(), "")
}

func asYAML(err error, e *yaml.Error) bool {
	y, ok := err.(yaml.Error)
	*e = y
	return ok
}

var durationType = reflect.TypeFor[time.Duration]()

// foreign says what values look like whose types are not of this package.
var foreign = map[reflect.Type]error{
	reflect.TypeFor[time.Time]():  errors.New("want a time such as 2026-01-02T15:04:05Z"),
	reflect.TypeFor[netip.Addr](): errors.New("want an IP address"),
}

// value sets v, which the key is for, to what the node says.
func (p *parse) value(n ast.Node, v reflect.Value, key string) *Fault {
	if _, ok := p.lines[key]; !ok {
		p.lines[key] = n.GetToken().Position.Line
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		return p.value(n, v.Elem(), key)
	}
	if text, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return p.text(n, key, func(b []byte) error {
			err := text.UnmarshalText(b)
			if want := foreign[v.Type()]; err != nil && want != nil {
				return want
			}
			return err
		})
	}
	switch v.Kind() {
	case reflect.Struct:
		return p.mapping(n, v, key)
	case reflect.Slice:
		return p.sequence(n, v, key)
	}
	return p.text(n, key, func(b []byte) error { return scalar(string(b), v) })
}

func (p *parse) mapping(n ast.Node, v reflect.Value, key string) *Fault {
	var values []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	default:
		return p.at(n, key, "want keys with values: %s", strings.Join(known(v.Type()), ", "))
	}
	for _, value := range values {
		name := value.Key.GetToken().Value
		child := strings.TrimPrefix(key+"."+name, ".")
		field := find(v, name)
		if !field.IsValid() {
			return p.at(value.Key, child, "no such key; there are %s", strings.Join(known(v.Type()), ", "))
		}
		p.lines[child] = value.Key.GetToken().Position.Line
		if f := p.value(value.Value, field, child); f != nil {
			return f
		}
	}
	return nil
}

// sequence sets a list. One value stands for a list of one.
func (p *parse) sequence(n ast.Node, v reflect.Value, key string) *Fault {
	items := []ast.Node{n}
	if list, ok := n.(*ast.SequenceNode); ok {
		items = list.Values
	}
	v.Set(reflect.MakeSlice(v.Type(), len(items), len(items)))
	for i, item := range items {
		initialize(v.Index(i))
		if f := p.value(item, v.Index(i), fmt.Sprintf("%s[%d]", key, i)); f != nil {
			return f
		}
	}
	return nil
}

// initialize gives an element of a list its defaults.
func initialize(v reflect.Value) {
	if w, ok := v.Addr().Interface().(*Work); ok {
		*w = Default().Work[0]
	}
}

// text gives the text of a single value to set.
func (p *parse) text(n ast.Node, key string, set func([]byte) error) *Fault {
	var text string
	switch n := n.(type) {
	case *ast.StringNode:
		text = n.Value
	case *ast.LiteralNode:
		text = n.Value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		text = n.GetToken().Value
	case *ast.NullNode:
		return p.at(n, key, "a value is missing")
	case *ast.AliasNode, *ast.AnchorNode, *ast.TagNode, *ast.MergeKeyNode:
		return p.at(n, key, "anchors, aliases and tags are not for scenarios")
	default:
		return p.at(n, key, "want a single value")
	}
	if err := set([]byte(text)); err != nil {
		return p.at(n, key, "%q: %v", text, err)
	}
	return nil
}

func (p *parse) at(n ast.Node, key, format string, args ...any) *Fault {
	f := fault(key, format, args...)
	f.Line = n.GetToken().Position.Line
	return f
}

// find is the field with that key, those of embedded structs included.
func find(v reflect.Value, name string) reflect.Value {
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag.Get("yaml")
		if tag == name {
			return v.Field(i)
		}
		if tag == ",inline" {
			if f := find(v.Field(i), name); f.IsValid() {
				return f
			}
		}
	}
	return reflect.Value{}
}

// known are the keys of a struct.
func known(t reflect.Type) (keys []string) {
	for i := range t.NumField() {
		tag := t.Field(i).Tag.Get("yaml")
		if tag == ",inline" {
			keys = append(keys, known(t.Field(i).Type)...)
		} else {
			keys = append(keys, tag)
		}
	}
	return keys
}

// scalar sets v to what the text says.
func scalar(s string, v reflect.Value) error {
	switch {
	case v.Type() == durationType:
		d, err := time.ParseDuration(s)
		if err != nil || d < 0 {
			return fmt.Errorf("want a duration such as 10us")
		}
		v.SetInt(int64(d))
	case v.Kind() == reflect.String:
		v.SetString(s)
	case v.Kind() == reflect.Bool:
		b, err := strconv.ParseBool(s)
		if err != nil {
			return fmt.Errorf("want true or false")
		}
		v.SetBool(b)
	case v.CanInt():
		i, err := strconv.ParseInt(s, 0, v.Type().Bits())
		if err != nil {
			return fmt.Errorf("want a whole number")
		}
		v.SetInt(i)
	case v.CanUint():
		u, err := strconv.ParseUint(s, 0, v.Type().Bits())
		if err != nil {
			return fmt.Errorf("want a whole number from 0 to %d", uint64(1)<<(v.Type().Bits()-1)*2-1)
		}
		v.SetUint(u)
	case v.CanFloat():
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return fmt.Errorf("want a number")
		}
		v.SetFloat(f)
	}
	return nil
}
