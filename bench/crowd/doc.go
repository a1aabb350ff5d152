// Package crowd is the load of the programs that measure: workflows of a plain shape, many callers that start them at once
// or at a steady pace, and what a run of them cost whom.
//
// It owns how a start is called, which is as cheaply as a client can, since caller and product share the machine's cores:
// a connection that stays, a request that is written once, an answer that is read by net/http. It never says what is fast
// enough: the bars are each program's own. The programs in bench use it, on the sites of bench/site.
package crowd
