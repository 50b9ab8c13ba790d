module github.com/rdmadump/rdmadump

go 1.25.0
