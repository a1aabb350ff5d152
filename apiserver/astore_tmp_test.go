package apiserver

import "github.com/porpoise/porpoise/sql"

func asStore(db *sql.Store) Store { return newTmp(db) }
