/* Paths as users write them. */
#include "base/path.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* The prefixes of ROMIO, one per file system driver. In capitals they are parts of a name. */
const char *pnc_path_strip(const char *path)
{
    static const char *const types[] = {"ufs",    "nfs",  "xfs", "pvfs2",   "gpfs",  "panfs",
                                        "lustre", "daos", "ime", "quobyte", "testfs"};
    size_t n = strcspn(path, ":");

    for (size_t i = 0; path[n] == ':' && i < sizeof types / sizeof *types; i++)
        if (strlen(types[i]) == n && strncmp(path, types[i], n) == 0)
            return path + n + 1;
    return path;
}

const char *pnc_path_get_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

const char *pnc_path_explain_missing(const char *path)
{
    const char *colon = strstr(path, "://");
    bool is_url = colon != NULL && colon > path;

    for (const char *c = path; is_url && c < colon; c++)
        is_url = isalnum((unsigned char)*c) != 0 || strchr("+-.", *c) != NULL;
    return is_url ? ": this is a URL, and only files are opened: download it, for example by curl -O, or mount its "
                    "folder"
                  : "";
}
