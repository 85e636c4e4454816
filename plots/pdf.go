package plots

import (
	"bytes"
	"io"
	"time"
	"unicode"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgpdf"
)

func init() {
	// vgpdf hides its document, so the defaults of its library are the only way
	// to keep the time out of the file.
	epoch := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	fpdf.SetDefaultCreationDate(epoch)
	fpdf.SetDefaultModificationDate(epoch)
	fpdf.SetDefaultCatalogSort(true)
}

// pdfCanvas draws letters as outlines: vgpdf embeds fonts with the Windows-1252
// code page and treats UTF-8 as such, so ε, †, – and ± would be garbled, and it
// does not find bold fonts.
type pdfCanvas struct{ *vgpdf.Canvas }

func (c pdfCanvas) FillString(face font.Face, at vg.Point, s string) {
	for _, r := range wellFormed(s) {
		if path := outline(face, r, face.Font.Size, at); path != nil {
			c.Canvas.Fill(path)
		}
		at.X += face.Width(string(r))
	}
}

// glyphUnits is the size at which outlines are taken from a font.
const glyphUnits = 1000

// has reports whether letters can be drawn one after the other: the font has them, and
// they are written from left to right.
func has(face font.Face, r rune) bool {
	var buf sfnt.Buffer
	index, err := face.Face.GlyphIndex(&buf, r)
	return err == nil && index != 0 && !unicode.In(r, unicode.Hebrew, unicode.Arabic)
}

// outline returns the shape of a character of some size at a point, nil for a
// space and for one that the font does not have.
func outline(face font.Face, r rune, size vg.Length, at vg.Point) vg.Path {
	var buf sfnt.Buffer
	index, err := face.Face.GlyphIndex(&buf, r)
	if err != nil || index == 0 {
		return nil
	}
	segments, err := face.Face.LoadGlyph(&buf, index, fixed.I(glyphUnits), nil)
	if err != nil || len(segments) == 0 {
		return nil
	}
	scale := float64(size) / glyphUnits
	point := func(p fixed.Point26_6) vg.Point {
		// sfnt's y axis points down.
		return vg.Point{X: at.X + vg.Length(float64(p.X)/64*scale), Y: at.Y - vg.Length(float64(p.Y)/64*scale)}
	}
	var path vg.Path
	for i, s := range segments {
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			if i > 0 {
				path.Close()
			}
			path.Move(point(s.Args[0]))
		case sfnt.SegmentOpLineTo:
			path.Line(point(s.Args[0]))
		case sfnt.SegmentOpQuadTo:
			path.QuadTo(point(s.Args[0]), point(s.Args[1]))
		case sfnt.SegmentOpCubeTo:
			path.CubeTo(point(s.Args[0]), point(s.Args[1]), point(s.Args[2]))
		}
	}
	path.Close()
	return path
}

func (c pdfCanvas) bytes() ([]byte, error) {
	var buf bytes.Buffer
	_, err := io.WriterTo(c.Canvas).WriteTo(&buf)
	return buf.Bytes(), err
}
