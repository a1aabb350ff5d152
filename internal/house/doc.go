// Package house holds the rules of the house as tests: which package may import which,
// that every package and every exported name says what it is, how long a file may be,
// and that the documents name the same states as the code.
//
// It owns no code that runs in the product, and nothing imports it. Its tests read the
// source of the whole module.
package house
