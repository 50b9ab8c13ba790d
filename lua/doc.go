// Package lua makes the Wireshark plugin: one Lua file that shows in Wireshark
// and tshark what this toolkit sees in RDMA packets.
//
// The tables in it (headers, fields, opcodes, enumerations) are rendered from
// the codec's tables; src holds what reads them. The result is committed as
// rdmadump.lua, and a test fails when it is not what Generate makes.
package lua

import _ "embed"

// Version is the version of the plugin, as Wireshark lists it among its plugins. It is
// not that of rdmadump, which a build takes from its commit.
const Version = "0.1.0"

// FileName is what the plugin is called in a plugin folder.
const FileName = "rdmadump.lua"

// Plugin is the plugin as it is committed.
//
//go:embed rdmadump.lua
var Plugin []byte
