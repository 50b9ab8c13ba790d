// Package craft makes single frames of what is said about them: any opcode, any
// header, any field, also wrong ones. What is said are the keys of `rdmadump read
// --json`; what they leave out is completed so that the frame is right.
package craft
