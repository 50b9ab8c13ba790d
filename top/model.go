package top

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// Model is the state of a view.
type Model struct {
	Title   string // what is looked at, printable
	Colored bool
	ASCII   bool // the terminal shows nothing else
	Replay  bool // a pause holds the packets back, not only the view

	ask    func(Query)    // that the next screens should answer
	hold   func(on bool)  // the replay
	listen func() tea.Msg // waits for a Screen

	width, height int
	screen        *Screen
	query         Query
	chosen        bool   // the user said whether totals are shown
	selected      uint32 // Key of the row
	at            int    // its place
	top           int    // the row in the first line
	scroll        int    // of a connection in detail, or of the help
	mode          mode
	typed         string // what to find while it is edited
	paused        bool
}

// mode is what the screen is used for.
type mode int

const (
	listing mode = iota
	opened       // one connection
	typing       // what to find
	helping
)

// screenMsg brings a screen.
type screenMsg struct{ *Screen }

// Init waits for the first screen.
func (m *Model) Init() tea.Cmd { return m.wait() }

func (m *Model) wait() tea.Cmd { return m.listen }

// Update takes a key, a size or a screen.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.settle()
	case screenMsg:
		m.show(msg.Screen)
		return m, m.wait()
	case tea.PasteMsg:
		if m.mode == typing {
			m.typed += printable(msg.Content)
			m.find()
		}
	case tea.KeyPressMsg:
		return m, m.key(msg)
	}
	return m, nil
}

// show takes a new screen. While the view of what runs is paused it takes only what
// was not there before: the connection that was opened meanwhile.
func (m *Model) show(s *Screen) {
	if m.paused && m.screen != nil && !m.Replay {
		if m.mode == opened && (m.screen.Detail == nil || m.screen.Detail.Key != m.query.Open) {
			held := *m.screen
			held.Detail = s.Detail
			m.screen = &held
		}
		return
	}
	if s.Ended && !m.chosen && !m.query.Totals { // averages over all of it say less
		m.query.Totals = true
		m.ask(m.query)
	}
	m.screen = s
	m.sort()
}

// sort puts the rows in the order and takes out those that are not
// looked for, at once: the screen may answer an older query.
func (m *Model) sort() {
	if m.screen == nil {
		return
	}
	s := *m.screen
	s.Rows = slices.DeleteFunc(slices.Clone(s.Rows), func(r Row) bool { return !m.query.Find.takes(&r) })
	slices.SortFunc(s.Rows, func(a, b Row) int { return m.query.Order.compare(&a, &b, m.query.Totals) })
	m.screen = &s
	m.settle()
}

// settle keeps the selection on its row, and that within the window.
func (m *Model) settle() {
	if m.screen == nil {
		return
	}
	rows := m.screen.Rows
	if i := slices.IndexFunc(rows, func(r Row) bool { return r.Key == m.selected }); i >= 0 && m.at > 0 {
		m.at = i // the first place keeps to what is worst
	}
	m.place(m.at)
}

// place selects the i-th row, or the next best.
func (m *Model) place(i int) {
	rows := m.screen.Rows
	m.at = min(max(i, 0), max(len(rows)-1, 0))
	m.selected = 0
	if len(rows) > 0 {
		m.selected = rows[m.at].Key
	}
	visible := max(1, m.height-frameLines)
	m.top = min(m.top, m.at)
	m.top = max(m.top, m.at-visible+1, 0)
	m.top = min(m.top, max(0, len(rows)-visible))
}

// key follows a key.
func (m *Model) key(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "ctrl+c":
		return tea.Quit
	case "ctrl+z":
		return tea.Suspend
	}
	if m.mode == typing {
		m.edit(k)
		return nil
	}
	switch k.String() {
	case "q":
		return tea.Quit
	case "?", "h", "f1":
		m.scroll = 0
		if m.mode == helping {
			m.back()
			return nil
		}
		m.mode = helping
	case "esc", "backspace":
		m.back()
	case "p", "space":
		m.pause()
	case "t":
		m.chosen, m.query.Totals = true, !m.query.Totals
		m.requery()
	case "up", "k":
		m.move(-1)
	case "down", "j":
		m.move(1)
	case "pgup", "ctrl+b":
		m.move(-max(1, m.height-frameLines))
	case "pgdown", "ctrl+f":
		m.move(max(1, m.height-frameLines))
	case "home", "g":
		m.move(-maxRows)
	case "end", "G":
		m.move(maxRows)
	default:
		if m.mode == listing {
			m.listKey(k.String())
		}
	}
	return nil
}

// listKey follows the keys that only the list of connections has.
func (m *Model) listKey(key string) {
	switch key {
	case "enter", "right", "l":
		if m.selected != 0 {
			m.mode, m.scroll = opened, 0
			m.query.Open = m.selected
			m.requery()
		}
	case "/", "f":
		m.mode, m.typed = typing, m.query.Find.text
	case "s", ">":
		m.query.Order = (m.query.Order + 1) % orders
		m.resort()
	case "S", "<":
		m.query.Order = (m.query.Order + orders - 1) % orders
		m.resort()
	default:
		if i := strings.Index("1234567890a", key); i >= 0 && len(key) == 1 {
			m.query.Order = Order(i)
			m.resort()
		}
	}
}

// resort sorts by another column and goes to the first row.
func (m *Model) resort() {
	m.at, m.top = 0, 0
	m.requery()
}

func (m *Model) requery() {
	m.sort()
	m.ask(m.query)
}

// back leaves what is shown in front of the list; from the list, what was looked for.
func (m *Model) back() {
	switch {
	case m.mode == helping && m.query.Open != 0:
		m.mode = opened
	case m.mode == listing && m.query.Find.text != "":
		m.query.Find = Find{}
		m.requery()
	default:
		m.mode = listing
		if m.query.Open != 0 {
			m.query.Open = 0
			m.ask(m.query)
		}
	}
}

func (m *Model) pause() {
	m.paused = !m.paused
	if m.Replay {
		m.hold(m.paused)
	}
}

// move goes up and down.
func (m *Model) move(by int) {
	if m.mode != listing {
		m.scroll = max(0, m.scroll+by) // View knows the end
		return
	}
	if m.screen != nil {
		m.place(m.at + by)
	}
}

// edit follows a key of what to find, which is applied as it is typed.
func (m *Model) edit(k tea.KeyPressMsg) {
	switch k.String() {
	case "enter":
		m.mode = listing
		return
	case "esc":
		m.mode, m.typed = listing, ""
	case "backspace":
		if r := []rune(m.typed); len(r) > 0 {
			m.typed = string(r[:len(r)-1])
		}
	case "ctrl+u":
		m.typed = ""
	default:
		m.typed += printable(k.Text)
	}
	m.find()
}

// find applies what is typed.
func (m *Model) find() {
	m.query.Find = ParseFind(m.typed)
	m.at, m.top = 0, 0
	m.requery()
}

// printable is the ASCII of a text: nothing else is in an address.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, text)
}

func (m *Model) line(width int) *line { return newLine(width, m.Colored) }
