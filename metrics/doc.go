// Package metrics gives what an analysis of RDMA traffic knows, while it runs, to
// Prometheus, and as JSON over HTTP.
//
//	board := metrics.NewBoard(analyzer, metrics.Limits{Connections: 1000})
//	// feed the analyzer, holding the board's lock for each frame
//	http.Handle("/", metrics.Handler(board, version))
//
// Names follow the conventions of Prometheus: counters end in _total, units are
// seconds and bytes. What is counted of one connection stands under
// rdmadump_connection_, with labels for its direction; the rest is of all
// connections together, those included that are followed no longer.
package metrics
