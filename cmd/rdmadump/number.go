package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// number is the value of a flag that limits a count; zero is no limit given.
type number int

func (n *number) String() string { return "0" } // no default is shown
func (n *number) Type() string   { return "int" }

func (n *number) Set(s string) error {
	v, err := strconv.Atoi(s)
	if errors.Is(err, strconv.ErrRange) && v > 0 {
		return fmt.Errorf("want a number up to %d", math.MaxInt)
	}
	if err != nil || v < 1 {
		return errors.New("want a number above 0")
	}
	*n = number(v)
	return nil
}
