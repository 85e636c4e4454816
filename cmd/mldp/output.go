package main

import (
	"io"
	"os"

	"golang.org/x/term"
)

// screen is the terminal that a command writes to, of no width where it is none.
func screen(out io.Writer) (width int) {
	if checked, ok := out.(*checkedOutput); ok {
		if f, ok := checked.to.(*os.File); ok {
			width, _, _ = term.GetSize(int(f.Fd())) // 0 of what is no terminal
		}
	}
	return width
}
