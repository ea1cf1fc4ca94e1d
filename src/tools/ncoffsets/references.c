/* References to the chunks of one file, or of several that are joined along the record dimension. Fixed-size variables
 * and attributes are those of the first file. */
#include "config.h" /* open_memstream, realpath */

#include "tools/ncoffsets/references.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "format/layout.h"
#include "tools/common/join.h"
#include "tools/common/json.h"
#include "tools/common/message.h"
#include "tools/ncoffsets/chunks.h"
#include "tools/ncoffsets/zarr.h"

enum {
    DEFAULT_CHUNK = 16 << 20, /* bytes: large enough for object stores, small enough for the memory of a task */
    COMPARED = 64 << 10,      /* bytes at a time */
    INDEX_SIZE = 256
};

typedef struct references {
    const options *options;
    const tool_file *first;
    const pnc_model *model;   /* of the first file */
    tool_relations relations; /* of its variables */
    FILE *out;
    int64_t numrecs; /* of the files so far */
} references;

static bool is_selected(const references *r, const pnc_var *var)
{
    return tool_names_contain(&r->options->variables, var->name);
}

static void choose_chunks(const references *r, const pnc_var *var, zarr_chunks *chunks)
{
    offsets_zarr_chunks_choose(var, r->options->chunk > 0 ? r->options->chunk : DEFAULT_CHUNK, chunks);
}

/* ,"variable/ or ," */
static void begin_key(const references *r, const pnc_var *var)
{
    fputs(",\n\"", r->out);
    if (var != NULL) {
        tool_json_part_write(r->out, var->name, strlen(var->name));
        fputc('/', r->out);
    }
}

/* --- metadata: JSON documents, each one a string --- */

typedef enum metadata { GROUP_ATTRIBUTES, ARRAY, ARRAY_ATTRIBUTES } metadata;

static void write_content(const references *r, metadata kind, const pnc_var *var, FILE *out)
{
    zarr_chunks chunks;

    if (kind == GROUP_ATTRIBUTES) {
        offsets_zarr_group_write_attributes(out, r->model);
    } else if (kind == ARRAY) {
        choose_chunks(r, var, &chunks);
        offsets_zarr_array_write(out, var, &chunks, r->numrecs);
    } else {
        offsets_zarr_array_write_attributes(out, r->model, var);
    }
}

static int write_document(const references *r, metadata kind, const pnc_var *var)
{
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);
    bool complete = false;

    if (stream != NULL) {
        write_content(r, kind, var, stream);
        complete = ferror(stream) == 0;
        complete = fclose(stream) == 0 && complete;
    }
    if (complete) {
        begin_key(r, var);
        fputs(kind == ARRAY ? ".zarray\": " : ".zattrs\": ", r->out);
        tool_json_text_write(r->out, text, length);
    } else {
        tool_error_print("%s: not enough memory for its attributes", r->options->path);
    }
    free(text);
    return complete ? NC_NOERR : NC_ENOMEM;
}

static int write_metadata(const references *r)
{
    PNC_TRY(write_document(r, GROUP_ATTRIBUTES, NULL));
    for (int i = 0; i < r->model->nvars; i++) {
        const pnc_var *var = r->model->vars[i];

        if (!is_selected(r, var))
            continue;
        PNC_TRY(write_document(r, ARRAY, var));
        PNC_TRY(write_document(r, ARRAY_ATTRIBUTES, var));
    }
    return NC_NOERR;
}

/* --- chunks --- */

/* The chunks of a fixed-size variable, or of one record, which begins at `begin`. */
static void write_chunks(const references *r, const pnc_var *var, int64_t record, int64_t begin, const char *url)
{
    zarr_chunks chunks;

    choose_chunks(r, var, &chunks);
    for (int64_t i = 0; i < chunks.number; i++) {
        begin_key(r, var);
        offsets_zarr_key_write(r->out, var, &chunks, record, i);
        fputs("\": [", r->out);
        tool_json_string_write(r->out, url);
        fprintf(r->out, ", %" PRId64 ", %" PRId64 "]", begin + i * chunks.size, chunks.size);
    }
}

/* Record variables of a file, in the order of the first file. */
static void write_records(const references *r, const pnc_model *model, const char *url)
{
    for (int i = 0; i < r->model->nvars; i++) {
        const pnc_var *var = r->model->vars[i];
        int64_t begin;

        if (!var->is_record || !is_selected(r, var))
            continue;
        begin = model->vars[pnc_format_var_find(model, var->name)]->classic.begin;
        for (int64_t k = 0; k < model->numrecs; k++)
            write_chunks(r, var, r->numrecs + k, begin + k * model->classic.recsize, url);
    }
}

static void write_fixed(const references *r, const char *url)
{
    for (int i = 0; i < r->model->nvars; i++)
        if (!r->model->vars[i]->is_record && is_selected(r, r->model->vars[i]))
            write_chunks(r, r->model->vars[i], 0, r->model->vars[i]->classic.begin, url);
}

/* --- files --- */

char *offsets_url_make(const char *path, const char *prefix)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    size_t length = prefix != NULL ? strlen(prefix) : 0;
    char *url;

    if (prefix == NULL)
        return realpath(path, NULL);
    url = malloc(length + strlen(name) + 2);
    if (url != NULL)
        sprintf(url, "%s%s%s", prefix, length > 0 && prefix[length - 1] == '/' ? "" : "/", name);
    return url;
}

/* A chunk that ends behind the file would fail in each reader. */
static int check_complete(const tool_file *file)
{
    int64_t end = pnc_format_layout_get_data_end(&file->model);

    if (end <= file->size)
        return NC_NOERR;
    tool_error_print("%s: the file is truncated: its data end at byte %" PRId64 ", it has %" PRId64
                     " bytes. ncvalidator reports what is missing, and repairs a copy",
                     file->path, end, file->size);
    return NC_ENOTNC;
}

/* Compare the values of a coordinate variable, which has the same type and shape in both files. The joined variables
 * have the coordinates of the first file. */
static int compare_values(const tool_join *join, int varid)
{
    const pnc_var *var = join->first->model.vars[varid];
    const pnc_var *there = join->other->model.vars[pnc_format_var_find(&join->other->model, var->name)];
    char a[COMPARED], b[COMPARED], index[INDEX_SIZE];
    int64_t size = (int64_t)pnc_type_get_size(var->type);

    for (int64_t done = 0, n; done < var->size; done += n) {
        n = var->size - done < COMPARED ? var->size - done : COMPARED;
        PNC_TRY(tool_file_read(join->first, var->classic.begin + done, a, n));
        PNC_TRY(tool_file_read(join->other, there->classic.begin + done, b, n));
        for (int64_t i = 0; i < n; i += size) {
            unsigned char first[8], other[8];

            if (memcmp(a + i, b + i, (size_t)size) == 0)
                continue;
            tool_index_explain(var->ndims, var->shape, (done + i) / size, index, sizeof index);
            tool_att_load(&(pnc_att){.type = var->type, .len = 1, .value = a + i}, first);
            tool_att_load(&(pnc_att){.type = var->type, .len = 1, .value = b + i}, other);
            return tool_join_report_value(join, varid, index, first, other);
        }
    }
    return NC_NOERR;
}

static int check_coordinate(const tool_join *join, int varid)
{
    bool compare;

    PNC_TRY(tool_join_check_fixed(join, varid, &compare));
    return compare ? compare_values(join, varid) : NC_NOERR;
}

static int check_variables(const references *r, const tool_join *join)
{
    for (int i = 0; i < r->model->nvars; i++) {
        const pnc_var *var = r->model->vars[i];
        tool_adaptation adaptation;

        if (!is_selected(r, var))
            continue;
        if (var->is_record)
            PNC_TRY(tool_join_check_variable(join, i, &adaptation));
        else if (join->first_relations->coordinate[i])
            PNC_TRY(check_coordinate(join, i));
    }
    return NC_NOERR;
}

/* Whether a file can continue the first one. Its record variables that the first one lacks are left out. */
static int check_joinable(const references *r, const tool_file *file)
{
    tool_relations relations;
    const tool_join join = {.first = r->first,
                            .other = file,
                            .first_relations = &r->relations,
                            .other_relations = &relations,
                            .dimid = r->model->recdim,
                            .refusal = "references cannot convert values; ncmpicopy joins such files in one"};
    int err;

    if (r->model->nrecvars == 0) {
        tool_error_print("%s: has no record variables: several files are joined along the record dimension",
                         r->options->path);
        return NC_EINVAL;
    }
    err = tool_relations_init(&file->model, &relations);
    if (err != NC_NOERR)
        tool_error_print("%s: not enough memory", file->path);
    else
        err = check_variables(r, &join);
    if (err == NC_NOERR)
        tool_join_report_others(&join);
    tool_relations_free(&relations);
    return err;
}

static int write_file(references *r, const tool_file *file, bool first)
{
    char *url;

    PNC_TRY(check_complete(file));
    if (!first)
        PNC_TRY(check_joinable(r, file));
    url = offsets_url_make(file->path, r->options->url);
    if (url == NULL) {
        tool_error_print("%s: its absolute path is not known: %s", file->path, strerror(errno));
        return NC_EFILE;
    }
    if (first)
        write_fixed(r, url);
    write_records(r, &file->model, url);
    r->numrecs += file->model.numrecs;
    free(url);
    return NC_NOERR;
}

int offsets_references_write(const tool_file *first, const options *o, FILE *out)
{
    references r = {.options = o, .first = first, .model = &first->model, .out = out};
    int err;

    if (first->netcdf4 != NULL)
        return offsets_chunks_write_references(first, o, out);
    err = tool_relations_init(r.model, &r.relations);
    if (err != NC_NOERR)
        tool_error_print("%s: not enough memory", first->path);
    fputs("{\"version\": 1, \"refs\": {\n\".zgroup\": \"{\\\"zarr_format\\\":2}\"", out);
    if (err == NC_NOERR)
        err = write_file(&r, first, true);
    for (int i = 1; i < o->npaths && err == NC_NOERR; i++) {
        tool_file file;

        err = tool_file_open(o->paths[i], &file);
        if (err == NC_NOERR)
            err = tool_file_check_classic(&file, "only classic files are joined");
        if (err == NC_NOERR)
            err = write_file(&r, &file, false);
        tool_file_close(&file);
    }
    tool_warnings_finish();
    if (err == NC_NOERR)
        err = write_metadata(&r);
    if (err == NC_NOERR)
        fputs("\n}}\n", out);
    tool_relations_free(&r.relations);
    return err;
}
