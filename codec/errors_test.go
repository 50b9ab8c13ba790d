package codec

import "errors"

// isOurs reports whether an error of decoding wraps one of the four that it may.
func isOurs(err error) bool {
	return errors.Is(err, ErrTruncated) || errors.Is(err, ErrOpcode) || errors.Is(err, ErrLength)
}
