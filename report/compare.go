package report
import ("io";"github.com/rdmadump/rdmadump/dissect/twopoint")
type Compare struct{ Style; Width, Rows, Detail, Copies int}
func (l Compare) Write(w io.Writer, c *twopoint.Comparison) error { return nil }
