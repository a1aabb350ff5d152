// Package deploy holds what people install to what the binary takes: the compose file,
// the image and the systemd units name roles that exist, with settings that they know.
//
// It owns no code that runs in the product, and nothing imports it. Its tests build the
// binary and ask it by `porpoise config check`.
package deploy
