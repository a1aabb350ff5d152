// Package apiserver is the HTTP face of Porpoise: the REST API under /api/v1, the
// event stream, health and metrics, sign-in, and the OpenAPI document made of the
// handlers' own types.
//
// It owns who may do what: every route declares its authentication, the permission
// it needs and how its object is found, and cannot be registered without. It never
// talks to a master to answer a read, decides nothing about workflows (dag does) and
// writes no SQL (sql does); what it asks for is a row before it is an answer. cmd
// builds it; apiserver/logs and apiserver/watch bring it logs and changes.
package apiserver
