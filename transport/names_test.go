package transport

import "github.com/rdmadump/rdmadump/psn"

func qpsn(n int) psn.PSN { return psn.New(n) }
func qseq(n int) psn.Seq { return psn.Seq(n) }
