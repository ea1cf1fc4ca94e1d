/* A manifest: a text with the checksums of the variables of a file, or of several, which can be kept beside them or
 * elsewhere. */
#ifndef PNC_TOOLS_COMMON_MANIFEST_H
#define PNC_TOOLS_COMMON_MANIFEST_H

#include <stdio.h>

#include "tools/common/checksum.h"

/* Of a file. */
typedef struct tool_manifest {
    char *path; /* of a manifest that was read: "" if the comment names none */
    int n, capacity;
    char **names;
    char *sums; /* PNC_CHECKSUM_TEXT bytes for each */
} tool_manifest;

/* Of several: each begins with a comment, which names its file. */
typedef struct tool_manifests {
    int n, capacity;
    tool_manifest *at;
} tool_manifests;

/* These return NC_NOERR, or a code after an error message that names the file; the manifest may be freed in any case.
 */

/* Read a text. *is_manifest is false, and there are none, if the file does not begin like one. */
int tool_manifests_load(const char *path, bool *is_manifest, tool_manifests *manifests);
void tool_manifests_free(tool_manifests *manifests);
/* That of a file: the only one, or that with this path, or the only one whose path has this name after its last slash.
 * NULL: there is none. */
tool_manifest *tool_manifests_find(const tool_manifests *manifests, const char *path);
/* The checksums of all variables of numbers and characters; a process of several computes those of its part, and has
 * zeros for others. by_attributes: where a variable has the attribute, it is not computed. */
int tool_manifest_compute(const tool_file *file, int rank, int nprocs, bool by_attributes, tool_manifest *manifest);
/* Add an entry. NC_ENOMEM without a message. */
int tool_manifest_add(tool_manifest *manifest, const char *name, const char sum[PNC_CHECKSUM_TEXT]);

/* The checksum of a variable; NULL: there is none. */
const char *tool_manifest_find(const tool_manifest *manifest, const char *name);
const char *tool_manifest_get(const tool_manifest *manifest, int i);
/* path: of the file that has the values, for a comment. */
void tool_manifest_write(const tool_manifest *manifest, const char *path, FILE *out);
/* Whether a file begins like a manifest, as tool_output_request asks. */
bool tool_manifest_is_head(const char *head, size_t n);
void tool_manifest_free(tool_manifest *manifest);

#endif
