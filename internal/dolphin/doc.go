// Package dolphin reads what Apache DolphinScheduler 3.x exports and writes the same
// workflows as definitions of Porpoise, with a report of every field: what it became, what
// needs a hand, and what has no equivalent here.
//
// It owns the words and the JSON of that product; no other package knows them. It does no
// I/O: text in, texts and a report out. It promises that no field with a meaning is left out
// silently: what it does not know is reported by its path. The command line and the API use it.
package dolphin
