#include "tools/diff/checksum.h"

#include <string.h>

#include "tools/common/file.h"
#include "tools/common/manifest.h"
#include "tools/common/message.h"

typedef struct diff_sums {
    const diff_options *options;
    const diff_world *world;
    tool_manifests listed[2]; /* of a manifest */
    bool is_manifest[2];
    tool_manifest computed[2]; /* of a file */
    tool_manifest *of[2];      /* those that are compared */
    int64_t differences;
} diff_sums;

/* The first error of any rank. */
static int agree_on(const diff_world *world, int err)
{
    diff_result result;

    diff_result_init(&result);
    result.status = err;
    if (world->merge != NULL)
        world->merge(&result);
    return result.status;
}

/* A file is compared with a manifest by its values: its attributes have been copied with it. */
static int compute_sums(diff_sums *s, int i)
{
    bool by_attributes = !s->is_manifest[0] && !s->is_manifest[1];
    tool_file file = {.fd = -1};
    int err = tool_file_open(s->options->paths[i], &file);

    if (err == NC_NOERR)
        err = tool_manifest_compute(&file, s->world->rank, s->world->nprocs, by_attributes, &s->computed[i]);
    tool_file_close(&file);
    err = agree_on(s->world, err);
    s->of[i] = &s->computed[i];
    if (err == NC_NOERR && s->world->combine != NULL && s->of[i]->n > 0)
        s->world->combine(s->of[i]->sums, s->of[i]->n * PNC_CHECKSUM_TEXT);
    return err;
}

/* A manifest may have several files: that of the other path counts. */
static int choose_sums(diff_sums *s, int i)
{
    const char *const *paths = (const char *const *)s->options->paths;

    s->of[i] = tool_manifests_find(&s->listed[i], paths[!i]);
    if (s->of[i] != NULL)
        return NC_NOERR;
    if (s->world->rank == 0)
        tool_error_print("%s has the checksums of %d files, none of which, or several, have the name of %s", paths[i],
                         s->listed[i].n, paths[!i]);
    return NC_EINVAL;
}

static void report_sum(diff_sums *s, const char *name, const char *sum, int i)
{
    const char *other = tool_manifest_find(s->of[!i], name);
    bool prints = s->world->rank == 0;

    if (other == NULL) {
        s->differences++;
        if (prints)
            printf("DIFF: variable \"%s\" of %s is not in %s\n", name, s->options->paths[i], s->options->paths[!i]);
    } else if (i == 0 && strcmp(sum, other) != 0) {
        s->differences++;
        if (prints)
            printf("DIFF: variable \"%s\" has checksum %s != %s\n", name, sum, other);
    } else if (i == 0 && s->options->verbose && prints) {
        printf("SAME: variable \"%s\" has checksum %s\n", name, sum);
    }
}

static int check_wanted(const diff_sums *s)
{
    const tool_names *names = &s->options->names;

    for (int i = 0; i < names->n; i++)
        if (tool_manifest_find(s->of[0], names->at[i]) == NULL && tool_manifest_find(s->of[1], names->at[i]) == NULL) {
            if (s->world->rank == 0)
                tool_error_print("no variable %s is in %s and %s", names->at[i], s->options->paths[0],
                                 s->options->paths[1]);
            return NC_ENOTVAR;
        }
    return NC_NOERR;
}

static int compare_sums(diff_sums *s)
{
    PNC_TRY(check_wanted(s));
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < s->of[i]->n; k++)
            if (tool_names_contain(&s->options->names, s->of[i]->names[k]))
                report_sum(s, s->of[i]->names[k], tool_manifest_get(s->of[i], k), i);
    if (s->world->rank > 0)
        return NC_NOERR;
    if (s->differences > 0)
        printf("Number of differences in checksums %lld\n", (long long)s->differences);
    else if (!s->options->quiet)
        puts("The checksums of all variables are the same");
    return tool_output_flush(NULL);
}

int diff_checksums_compare(const diff_options *options, const diff_world *world)
{
    diff_sums s = {.options = options, .world = world};
    int err = NC_NOERR;

    for (int i = 0; err == NC_NOERR && i < 2; i++)
        err = agree_on(world, tool_manifests_load(options->paths[i], &s.is_manifest[i], &s.listed[i]));
    for (int i = 0; err == NC_NOERR && i < 2; i++)
        err = s.is_manifest[i] ? choose_sums(&s, i) : compute_sums(&s, i);
    if (err == NC_NOERR)
        err = agree_on(world, compare_sums(&s));
    for (int i = 0; i < 2; i++) {
        tool_manifests_free(&s.listed[i]);
        tool_manifest_free(&s.computed[i]);
    }
    if (err != NC_NOERR)
        return DIFF_TROUBLE;
    return s.differences > 0 ? DIFF_DIFFERENT : DIFF_SAME;
}
