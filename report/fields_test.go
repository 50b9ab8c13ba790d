package report

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rdmadump/rdmadump/codec"
)

// docs/fields.md is what the field table says today.
func TestFieldsDocument(t *testing.T) {
	const path = "../docs/fields.md"
	got := AppendFieldsMarkdown(nil)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the field table says; rdmadump fields --markdown > docs/fields.md", path)
	}
}

func TestFieldsText(t *testing.T) {
	got := string(AppendFields(nil, 120))
	golden(t, "fields.golden", []byte(got))
	for _, h := range codec.Headers() {
		for _, f := range h.Fields() {
			if !f.Reserved() && !strings.Contains(got, " "+qualified(h, f)+" ") {
				t.Errorf("%s.%s is missing", h, f.Name)
			}
		}
	}
}

// A terminal of 80 columns folds no line of the reference, and no word is lost.
func TestFieldsAt80Columns(t *testing.T) {
	narrow, wide := string(AppendFields(nil, 80)), string(AppendFields(nil, 120))
	for line := range strings.Lines(narrow) {
		if len(line) > 81 {
			t.Errorf("%d columns: %s", len(line)-1, line)
		}
	}
	if !slices.Equal(strings.Fields(narrow), strings.Fields(wide)) {
		t.Error("narrow and wide say different things")
	}
}
