package metrics

import (
	_ "embed"
	"encoding/json"
	"html/template"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

//go:embed index.html
var indexPage string

var index = template.Must(template.New("index").Parse(indexPage))

// atATime is how many requests for metrics are served at a time.
const atATime = 4

// Handler serves a board: /metrics, /connections, /healthz, and a page at / that
// leads to them. version is that of the program.
func Handler(b *Board, version string) http.Handler {
	registry := prometheus.NewRegistry()
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "rdmadump_build_info", Help: "The version of rdmadump; always 1."}, []string{"version"})
	build.WithLabelValues(version).Set(1)
	registry.MustRegister(NewCollector(b), build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))

	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		Registry: registry, MaxRequestsInFlight: atATime, Timeout: 10 * time.Second, EnableOpenMetrics: true}))
	mux.HandleFunc("GET /connections", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false)
		_ = encoder.Encode(b.Listing())
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		text := "ok\n"
		switch fault, ended := b.Health(); {
		case fault != "":
			w.WriteHeader(http.StatusServiceUnavailable)
			text = fault + "\n"
		case ended:
			text = "ok, the capture is at its end\n"
		}
		_, _ = w.Write([]byte(text))
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fault, _ := b.Health()
		_ = index.Execute(w, page{version, fault, b.Listing()})
	})
	return mux
}

// page is what the page at / shows.
type page struct {
	Version string
	Fault   string
	*Listing
}

// NewServer makes a server of a handler that lets no client hold it up.
func NewServer(h http.Handler) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10}
}
