// Package sql is the store: every read and every write of Porpoise, on SQLite and on
// MySQL or MariaDB, with one SQL text for both wherever they allow it.
//
// It owns the schema and its migrations, the group commit of instance transitions,
// and the guards that make writes safe: each write to a running instance compares
// the owner's epoch. It decides nothing about workflows; dag does. master and
// apiserver use it through small interfaces of their own.
package sql
