// Package docs holds the documents of the project to the code: every workflow that they
// show is one that the core accepts, every link leads somewhere, every test and every
// function that they name exists.
//
// It owns no code that runs in the product, and nothing imports it. Its tests read the
// documents and the source of the whole module.
package docs
