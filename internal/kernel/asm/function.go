package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

// A machine is an instruction set.
type machine struct {
	name  string
	lanes int // float32 a vector register
	*file
}

func (m machine) neon() bool { return m.lanes == 4 }

// A bank is a kind of registers.
type bank string

const (
	general bank = "R"
	vectors bank = "V"
	masks   bank = "K" // of AVX-512
)

// size is the number of registers of a bank.
func (m machine) size(b bank) int {
	switch {
	case b == masks:
		return 7
	case b == general:
		return len(m.names)
	case m.lanes == 8:
		return 16
	default:
		return 32
	}
}

// A reg is a virtual register. Its form is the letter that it is written with,
// where it is not the usual one: X3 of Y3, w5 of R5.
type reg struct {
	bank bank
	id   int
	form string
}

func (r reg) as(form string) reg { return reg{r.bank, r.id, form} }

// A mem is an address: of a symbol, or of base + index + disp.
type mem struct {
	symbol      string // a format of disp
	base, index reg
	disp        int
}

func at(base reg, disp int) mem { return mem{base: base, disp: disp} }

// offset is the address so many bytes on.
func (m mem) offset(by int) mem { m.disp += by; return m }

// A line is an instruction or a label, vector one for llvm-mc.
type line struct {
	label, target string
	vector        bool
	format        string
	args          []any
}

// function is one that is being written.
type function struct {
	machine
	signature    string
	arguments    map[string]int // their offsets
	frame, size  int
	lines        []line
	registers    []bank // by id
	constants    []uint32
	constantRegs []reg
	mask         reg // of the numbers that load and store take, when there is one
}

// begin starts a function of arguments of eight bytes.
func (m machine) begin(name, params, result string) *function {
	f := &function{
		machine:   m,
		arguments: map[string]int{},
		registers: []bank{""},
	}
	f.signature = strings.TrimSpace(name + m.name + "(" + params + ") " + result)
	for _, p := range strings.Split(params, ", ") {
		f.arguments[strings.Fields(p)[0]] = f.size
		f.size += 8
	}
	if result != "" {
		f.arguments["ret"] = f.size
		f.size += 8
	}
	return f
}

func (f *function) register(b bank) reg {
	f.registers = append(f.registers, b)
	return reg{bank: b, id: len(f.registers) - 1}
}

func (f *function) vector() reg  { return f.register(vectors) }
func (f *function) general() reg { return f.register(general) }

// goes adds a line for Go's assembler, word a vector instruction: on arm64 one
// in the syntax of LLVM.
func (f *function) goes(format string, args ...any) {
	f.lines = append(f.lines, line{format: format, args: args})
}

func (f *function) word(format string, args ...any) {
	f.lines = append(f.lines, line{
		format: format,
		args:   args,
		vector: f.neon(),
	})
}

func (f *function) label(name string) { f.lines = append(f.lines, line{label: name}) }

// branch adds one to a label, to which format gives the condition.
func (f *function) branch(name, label string, args ...any) {
	format := name + " " + strings.Repeat("%v, ", len(args)) + label
	f.lines = append(f.lines, line{
		target: label,
		format: format,
		args:   args,
	})
}

// end assigns registers and writes the function to its file.
func (f *function) end() {
	if len(f.constants) > 0 {
		f.loadConstants()
	}
	assigned := f.assign()
	stub := f.signature
	if len(stub) > 115 {
		at := strings.LastIndex(stub[:110], ", ")
		stub = stub[:at+1] + "\n\t" + stub[at+2:]
	}
	fmt.Fprintf(&f.stubs, "\n//go:noescape\nfunc %s\n", stub)
	name, _, _ := strings.Cut(f.signature, "(")
	fmt.Fprintf(&f.text, "\n// func %s\nTEXT ·%s(SB), NOSPLIT, $%d-%d\n", f.signature, name, f.frame, f.size)
	for _, l := range f.lines {
		if l.label != "" {
			fmt.Fprintf(&f.text, "\n%s:\n", l.label)
			continue
		}
		args := slices.Clone(l.args)
		for i, x := range args {
			args[i] = f.spell(x, assigned, l.vector)
		}
		mark := ""
		if l.vector {
			mark = "WORD "
		}
		fmt.Fprintf(&f.text, "\t"+mark+l.format+"\n", args...)
	}
}

// used calls visit for the registers of a line.
func (l line) used(visit func(reg)) {
	for _, x := range l.args {
		switch x := x.(type) {
		case reg:
			visit(x)
		case mem:
			visit(x.base)
			visit(x.index)
		}
	}
}

// assign gives each virtual register a physical one from its first line to its
// last: on amd64 the first free one, as the codes of those are short, on arm64
// the one unused for longest.
func (f *function) assign() []int {
	first, last := f.lifetimes()
	free := map[bank][]int{}
	for _, b := range []bank{general, vectors, masks} {
		for i := range f.machine.size(b) {
			free[b] = append(free[b], i)
		}
	}
	assigned := make([]int, len(f.registers))
	set := make([]bool, len(f.registers))
	for i, l := range f.lines {
		l.used(func(r reg) {
			if r.id > 0 && last[r.id] == i+1 && first[r.id] <= i {
				free[r.bank] = append(free[r.bank], assigned[r.id])
				last[r.id] = 0 // once
			}
		})
		l.used(func(r reg) {
			if r.id == 0 || first[r.id] != i+1 || set[r.id] {
				return
			}
			if len(free[r.bank]) == 0 {
				panic(fmt.Sprintf("%s: no register left for %q", f.signature, l.format))
			}
			if !f.neon() {
				slices.Sort(free[r.bank])
			}
			assigned[r.id] = free[r.bank][0]
			free[r.bank] = free[r.bank][1:]
			set[r.id] = true
		})
	}
	return assigned
}

// lifetimes are the lines, from 1, at which each virtual register is first and
// last used. One that was set before a loop and is used in it lives to its end.
func (f *function) lifetimes() (first, last []int) {
	first = make([]int, len(f.registers))
	last = make([]int, len(f.registers))
	labels := map[string]int{}
	for i, l := range f.lines {
		l.used(func(r reg) {
			if first[r.id] == 0 {
				first[r.id] = i + 1
			}
			last[r.id] = i + 1
		})
		if l.label != "" {
			labels[l.label] = i + 1
		}
		if start, ok := labels[l.target]; ok {
			for r := range last {
				if first[r] < start && last[r] > start {
					last[r] = i + 1
				}
			}
		}
	}
	return first, last
}

// vectorPrefix is what stands before the number of a vector register.
func (m machine) vectorPrefix() string {
	switch m.lanes {
	case 16:
		return "Z"
	case 8:
		return "Y"
	default:
		return "v"
	}
}

// spell writes an argument of a line.
func (f *function) spell(x any, assigned []int, vector bool) string {
	switch x := x.(type) {
	case reg:
		form := x.form
		n := assigned[x.id]
		switch {
		case x.bank == masks:
			return fmt.Sprintf("K%d", n+1)
		case x.bank == general && form == "" && vector:
			return "x" + f.names[n]
		case x.bank == general:
			return cmp.Or(form, f.prefix) + f.names[n]
		case form == "":
			form = f.vectorPrefix()
		}
		return fmt.Sprint(form, n)
	case mem:
		base := f.spell(x.base, assigned, vector)
		index := f.spell(x.index, assigned, vector)
		switch {
		case x.symbol != "":
			return fmt.Sprintf(x.symbol, x.disp)
		case vector && x.index.id > 0:
			return fmt.Sprintf("[%s, %s]", base, index)
		case vector:
			return fmt.Sprintf("[%s, #%d]", base, x.disp)
		case x.index.id > 0:
			return fmt.Sprintf("%d(%s)(%s*1)", x.disp, base, index)
		default:
			return fmt.Sprintf("%d(%s)", x.disp, base)
		}
	default:
		return fmt.Sprint(x)
	}
}

// A file holds the functions of an architecture.
type file struct {
	names             []string // of general registers, after a prefix
	prefix            string
	text, stubs, data strings.Builder
	tables            map[string]bool
}

// table declares constants, four bytes each, and returns the address of them.
func (f *file) table(name string, words ...uint32) mem {
	if !f.tables[name] {
		if f.tables == nil {
			f.tables = map[string]bool{}
		}
		f.tables[name] = true
		f.data.WriteString("\n")
		for i, w := range words {
			fmt.Fprintf(&f.data, "DATA %s<>+%d(SB)/4, $0x%08x\n", name, 4*i, w)
		}
		fmt.Fprintf(&f.data, "GLOBL %s<>(SB), RODATA|NOPTR, $%d\n", name, 4*len(words))
	}
	return mem{symbol: name + "<>+%d(SB)"}
}

// write writes the assembly and the declarations, formatted.
func (f *file) write(assembly, stubs string) error {
	const header = "// Code generated by go generate ./internal/kernel. DO NOT EDIT.\n\n//go:build !noasm\n\n"
	text, err := encode(f.text.String())
	if err != nil {
		return err
	}
	text = header + "#include \"textflag.h\"\n" + f.data.String() + text
	if err := os.WriteFile(assembly, []byte(text), 0o666); err != nil {
		return err
	}
	return os.WriteFile(stubs, []byte(header+"package kernel\n"+f.stubs.String()), 0o666)
}

// encode replaces instructions in the syntax of LLVM by their codes.
func encode(text string) (string, error) {
	word := regexp.MustCompile(`\tWORD (.*)`)
	lines := word.FindAllStringSubmatch(text, -1)
	if len(lines) == 0 {
		return text, nil
	}
	var source, problems bytes.Buffer
	for _, l := range lines {
		source.WriteString(l[1] + "\n")
	}
	command := exec.Command("llvm-mc", "-triple=aarch64", "-mattr=+dotprod", "-show-encoding")
	command.Stdin = &source
	command.Stderr = &problems
	out, err := command.Output()
	codes := regexp.MustCompile(`encoding: \[0x(..),0x(..),0x(..),0x(..)\]`).FindAllSubmatch(out, -1)
	if err != nil || len(codes) != len(lines) {
		return "", fmt.Errorf("llvm-mc: %d codes of %d instructions: %v\n%.2000s", len(codes), len(lines), err,
			&problems)
	}
	next := 0
	return word.ReplaceAllStringFunc(text, func(l string) string {
		b := codes[next]
		next++
		return fmt.Sprintf("\tWORD $0x%s%s%s%s // %s", b[4], b[3], b[2], b[1], lines[next-1][1])
	}), nil
}
