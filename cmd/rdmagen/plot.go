package main

import (
	"bytes"
	"fmt"
	"math"
)

var plotColours = []string{"#d62728", "#1f77b4", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#17becf", "#7f7f7f"}

// measure is what one panel of the plot draws.
type measure struct {
	name string
	of   func(*lap) float64
}

var measures = []measure{
	{"completion time, us", func(l *lap) float64 { return float64(l.Time) / 1e3 }},
	{"resent with need, packets", func(l *lap) float64 { return float64(l.Needed) }},
	{"resent without need, packets", func(l *lap) float64 { return float64(l.Redundant) }},
	{"feedback, KiB", func(l *lap) float64 { return float64(l.FeedbackBytes) / 1024 }},
	{"send buffer, most KiB held", func(l *lap) float64 { return float64(l.HeldBytes) / 1024 }},
	{"efficiency", func(l *lap) float64 { return l.Efficiency }},
}

// The places of a panel, and of the whole: three panels side by side.
const (
	panelLeft, panelTop     = 70, 30
	panelWidth, panelHeight = 260, 180
	panelsAcross            = 3
	cellWidth, cellHeight   = 360, 270
)

// drawLaps draws each measure against the loss rate as SVG: a panel each, and in
// it a line for each transport, the loss rate by its square root, so that 0 has a
// place and small ones room.
func drawLaps(laps []lap) []byte {
	var names []string
	lines := map[string][]lap{}
	for _, l := range laps {
		if lines[l.Transport] == nil {
			names = append(names, l.Transport)
		}
		lines[l.Transport] = append(lines[l.Transport], l)
	}
	height := (len(measures) + panelsAcross - 1) / panelsAcross * cellHeight
	var b bytes.Buffer
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
		panelsAcross*cellWidth, height+20*len(names)+10)
	for i := range measures {
		fmt.Fprintf(&b, "<g transform=\"translate(%d %d)\">\n", i%panelsAcross*cellWidth, i/panelsAcross*cellHeight)
		drawPanel(&b, &measures[i], names, lines)
		b.WriteString("</g>\n")
	}
	for i, name := range names {
		y := height + 10 + 20*i
		fmt.Fprintf(&b, "<path d=\"M%d %dh24\" stroke=\"%s\" stroke-width=\"2\"/><text x=\"%d\" y=\"%d\">%s</text>\n",
			panelLeft, y, plotColours[i%len(plotColours)], panelLeft+32, y+4, name)
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// drawPanel draws one measure.
func drawPanel(b *bytes.Buffer, m *measure, names []string, lines map[string][]lap) {
	most, rate := 0.0, 1e-9
	for _, line := range lines {
		for i := range line {
			most, rate = max(most, m.of(&line[i])), max(rate, line[i].Loss)
		}
	}
	step := tick(most)
	top := step * max(1, math.Ceil(most/step))
	x := func(p float64) float64 { return panelLeft + panelWidth*math.Sqrt(p/rate) }
	y := func(v float64) float64 { return panelTop + panelHeight*(1-v/top) }
	fmt.Fprintf(b, "<text x=\"%d\" y=\"16\" text-anchor=\"middle\">%s</text>\n", panelLeft+panelWidth/2, m.name)
	for v := 0.0; v <= top+step/2; v += step {
		fmt.Fprintf(b, "<path d=\"M%d %.1fh%d\" stroke=\"#ccc\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.6g</text>\n",
			panelLeft, y(v), panelWidth, panelLeft-6, y(v)+4, v)
	}
	for i, name := range names {
		fmt.Fprintf(b, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"", plotColours[i%len(plotColours)])
		for j := range lines[name] {
			l := &lines[name][j]
			fmt.Fprintf(b, "%.1f,%.1f ", x(l.Loss), y(m.of(l)))
		}
		b.WriteString("\"/>\n")
	}
	if len(names) > 0 {
		for _, l := range lines[names[0]] {
			fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g</text>\n", x(l.Loss), panelTop+panelHeight+18, l.Loss)
		}
	}
	fmt.Fprintf(b, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">loss rate</text>\n", panelLeft+panelWidth/2, panelTop+panelHeight+38)
}

// tick is the distance of the lines of a scale up to a value: 1, 2 or 5 times a
// power of ten, four to ten of them.
func tick(most float64) float64 {
	if most <= 0 {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(most)))
	switch n := most / unit; {
	case n <= 2:
		return unit / 5
	case n <= 5:
		return unit / 2
	}
	return unit
}
