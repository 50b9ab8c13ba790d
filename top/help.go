package top

import "strings"

// keysHelp is what keys do.
const keysHelp = `↑ ↓ k j  pgup pgdn  home end    select a connection, or scroll
enter    open it: both directions, round trips, its last gaps
esc      back; from the list, all connections again
s S      sort by the next or the last column; 1 trouble, 2 packets, 3 lost,
         4 resent, 5 NAK, 6 RNR NAK, 7 timeouts, 8 CNP and CE, 9 round trip,
         0 newest packet, a address
/        find: a QPN (0x000222 or 546), an address or its beginning, a
         network; several words must all fit
t        totals, or rates a second
p space  pause: a replay stands still; a live view does, its capture goes on
q        quit
`

// columnsHelp is what is to be seen.
const columnsHelp = `LOST     packets that the network lost, as far as it is proved
RESNT    packets sent again      NAK RNR  refused by the receiver
TMOUT    timeouts of the sender  CE CNP   congestion, marked and notified
RTT      the newest round trip, where this place can tell it
TREND    packets over time, live 32 s, else all of the capture; red: trouble
`

// help is the page of help.
func (m *Model) help() []*line {
	var out []*line
	text := keysHelp + "\n" + columnsHelp + "\n" + TroubleHelp
	if m.ASCII {
		text = strings.Replace(text, "↑ ↓", "up down", 1)
	}
	for row := range strings.Lines(text) {
		l := m.line(m.width)
		l.put(plain, strings.TrimSuffix(row, "\n"))
		out = append(out, l)
	}
	return out
}
