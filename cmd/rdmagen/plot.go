package main

import (
	"bytes"
	"fmt"
	"math"
)

var plotColours = []string{"#d62728", "#1f77b4", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#17becf", "#7f7f7f"}

// drawLaps draws efficiency against loss rate as SVG: a line for each transport,
// the loss rate by its square root, so that 0 has a place and small ones room.
func drawLaps(laps []lap) []byte {
	const left, top, width, height = 60, 20, 480, 300
	most := 1e-9
	var names []string
	lines := map[string][]lap{}
	for _, l := range laps {
		if lines[l.Transport] == nil {
			names = append(names, l.Transport)
		}
		lines[l.Transport] = append(lines[l.Transport], l)
		most = max(most, l.Loss)
	}
	x := func(p float64) float64 { return left + width*math.Sqrt(p/most) }
	var b bytes.Buffer
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"760\" height=\"380\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"760\" height=\"380\" fill=\"white\"/>\n")
	for i := range 6 {
		y := top + height - height*i/5
		fmt.Fprintf(&b, "<path d=\"M%d %dh%d\" stroke=\"#ccc\"/><text x=\"%d\" y=\"%d\" text-anchor=\"end\">%.1f</text>\n", left, y, width, left-6, y+4, float64(i)/5)
	}
	for i, name := range names {
		colour := plotColours[i%len(plotColours)]
		fmt.Fprintf(&b, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"", colour)
		for _, l := range lines[name] {
			fmt.Fprintf(&b, "%.1f,%.1f ", x(l.Loss), top+height*(1-l.Efficiency))
		}
		fmt.Fprintf(&b, "\"/><text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>\n", left+width+14, top+12+16*i, colour, name)
	}
	if len(names) > 0 {
		for _, l := range lines[names[0]] {
			fmt.Fprintf(&b, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g</text>\n", x(l.Loss), top+height+18, l.Loss)
		}
	}
	fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">loss rate</text><text x=\"16\" y=\"%d\" transform=\"rotate(-90 16 %d)\" text-anchor=\"middle\">efficiency</text>\n</svg>\n", left+width/2, top+height+40, top+height/2, top+height/2)
	return b.Bytes()
}
