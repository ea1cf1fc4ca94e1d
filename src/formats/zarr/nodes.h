/* The groups and arrays that documents describe, as values of JSON. Of this folder only. */
#ifndef PNC_ZARR_NODES_H
#define PNC_ZARR_NODES_H

#include "base/table.h"
#include "formats/zarr/document.h"
#include "formats/zarr/json.h"

typedef struct pnc_zarr_node {
    const char *path; /* "" for the root */
    const char *key;  /* of its document, for messages */
    bool is_array;
    void *document;   /* of version 2: .zarray or .zgroup, or NULL: a group without one */
    void *attributes; /* or NULL */
} pnc_zarr_node;

typedef struct pnc_zarr_nodes {
    int version;
    bool is_consolidated;
    int n, capacity;
    pnc_zarr_node *at; /* the first one is the root */
    pnc_table paths;
    int nvalues;
    void **values; /* of documents, which the nodes are parts of */
} pnc_zarr_nodes;

/* NC_ENCZARR, NC_ENOMEM. The caller frees the nodes also after an error. Nodes are in the order of documents, but for
 * groups without one, which precede what is in them. */
int pnc_zarr_nodes_read(pnc_zarr_context *c, const pnc_zarr_document *documents, int64_t n, pnc_zarr_nodes *out);
/* The index of the group that a node is in; -1: there is none. */
int pnc_zarr_nodes_find_parent(const pnc_zarr_nodes *nodes, const char *path);
void pnc_zarr_nodes_free(const pnc_zarr_context *c, pnc_zarr_nodes *nodes);

#endif
