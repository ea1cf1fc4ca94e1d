/* ncvalidator --checksum: whether values have the checksums of attributes or of a manifest. */
#include "tools/ncvalidator/checksum.h"

#include <stdio.h>
#include <string.h>

#include "tools/common/checksum.h"
#include "tools/common/message.h"

/* The checksum that a variable should have, and where it is said; NULL: nowhere. */
static const char *find_checksum(const tool_file *file, const pnc_var *var, const options *o,
                                 const tool_manifest *manifest, char out[PNC_CHECKSUM_TEXT])
{
    int at = pnc_format_atts_find(&var->atts, PNC_CHECKSUM_ATTRIBUTE);
    const pnc_att *att = at < 0 ? NULL : var->atts.at[at];
    const char *sum = o->manifest != NULL ? tool_manifest_find(manifest, var->name) : NULL;

    if (o->manifest == NULL && att != NULL && att->type == NC_CHAR && att->len == PNC_CHECKSUM_TEXT - 1)
        sum = att->value;
    if (sum != NULL)
        snprintf(out, PNC_CHECKSUM_TEXT, "%.*s", PNC_CHECKSUM_TEXT - 1, sum);
    else if (o->manifest != NULL && var->type <= NC_UINT64 && !o->quiet)
        tool_warning_print("warning: %s: variable %s is not in %s", file->path, var->name, o->manifest);
    return sum != NULL ? out : NULL;
}

/* How many variables had a checksum, which was that of their values. */
static void report_compared(const tool_file *file, const options *o, int compared)
{
    if (o->quiet)
        return;
    if (compared == 0)
        tool_error_print("warning: %s: no variable has a checksum, so nothing was compared%s", file->path,
                         o->manifest != NULL ? "" : ": ncmpicopy --checksum and the hint nc_checksum add them");
    else if (!o->json)
        printf("The values of %d variable%s have the checksum of %s.\n", compared, compared == 1 ? "" : "s",
               o->manifest != NULL ? o->manifest : "the attribute " PNC_CHECKSUM_ATTRIBUTE);
}

/* Whether the values of each variable are those of its checksum; after an error message for each that are not. */
static bool check_values(const tool_file *file, const options *o, const tool_manifest *manifest)
{
    char text[PNC_CHECKSUM_TEXT], wanted[PNC_CHECKSUM_TEXT];
    bool good = true;
    int compared = 0;

    for (int i = 0; i < file->model.nvars; i++) {
        const pnc_var *var = file->model.vars[i];

        if (find_checksum(file, var, o, manifest, wanted) == NULL)
            continue;
        if (tool_checksum_compute(file, var, text) != NC_NOERR)
            return false;
        compared++;
        if (strcmp(wanted, text) == 0)
            continue;
        good = false;
        if (!o->quiet)
            tool_error_print("%s: variable %s: its values have the checksum %s, but %s %s is %s", file->path, var->name,
                             text, o->manifest != NULL ? "that of" : "its attribute",
                             o->manifest != NULL ? o->manifest : PNC_CHECKSUM_ATTRIBUTE, wanted);
    }
    for (int i = 0; o->manifest != NULL && i < manifest->n; i++)
        if (pnc_format_var_find(&file->model, manifest->names[i]) < 0) {
            good = false;
            if (!o->quiet)
                tool_error_print("%s: variable %s of %s is not in the file", file->path, manifest->names[i],
                                 o->manifest);
        }
    tool_warnings_finish();
    if (good)
        report_compared(file, o, compared);
    return good;
}

int validator_manifests_load(options *o)
{
    bool is_manifest;

    if (o->manifest == NULL)
        return NC_NOERR;
    PNC_TRY(tool_manifests_load(o->manifest, &is_manifest, &o->manifests));
    if (!is_manifest) {
        tool_error_print("%s: is not a manifest, as ncmpidump --checksum prints it", o->manifest);
        return NC_EINVAL;
    }
    for (int i = 0; o->npaths == 0 && i < o->manifests.n; i++)
        if (o->manifests.at[i].path[0] == '\0') {
            tool_error_print(
                "%s: part %d does not name its file, as \"# netCDF checksums of PATH\": give the path of the "
                "file after the options",
                o->manifest, i + 1);
            return NC_EINVAL;
        }
    return NC_NOERR;
}

/* Of a netCDF-4 file the examination has no model. */
bool validator_checksums_check(const char *path, const char *name, const options *o)
{
    const tool_manifest *manifest = o->manifest != NULL ? tool_manifests_find(&o->manifests, o->path) : NULL;
    tool_file file = {.fd = -1};
    bool good;

    if (o->manifest != NULL && manifest == NULL) {
        if (!o->quiet)
            tool_error_print("%s: %s has the checksums of %d files, none of which, or several, have this name", o->path,
                             o->manifest, o->manifests.n);
        return false;
    }
    good = tool_file_open(path, &file) == NC_NOERR;
    if (name != NULL)
        file.path = name;
    good = good && check_values(&file, o, manifest);
    tool_file_close(&file);
    return good;
}
