/* References of classic files. */
#include "config.h" /* open_memstream */

#include "references/references.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "references/json.h"
#include "references/zarr.h"

void pnc_references_list_begin(const pnc_references *r)
{
    fputs("{\"version\": 1, \"refs\": {\n\".zgroup\": \"{\\\"zarr_format\\\":2}\"", r->out);
}

void pnc_references_list_end(const pnc_references *r)
{
    fputs("\n}}\n", r->out);
}

bool pnc_references_var_is_listed(const pnc_references *r, const pnc_var *var)
{
    return r->selects == NULL || r->selects(r->with, var->name);
}

void pnc_references_key_begin(const pnc_references *r, const pnc_var *var)
{
    fputs(",\n\"", r->out);
    if (var != NULL) {
        pnc_references_part_write(r->out, var->name, strlen(var->name));
        fputc('/', r->out);
    }
}

void pnc_references_extent_write(const pnc_references *r, int64_t offset, int64_t bytes)
{
    fputs("\": [", r->out);
    pnc_references_string_write(r->out, r->url);
    fprintf(r->out, ", %" PRId64 ", %" PRId64 "]", offset, bytes);
}

/* --- metadata: JSON documents, each one a string --- */

int pnc_references_document_write(const pnc_references *r, const pnc_var *var, pnc_references_array *array,
                                  const void *with)
{
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);
    bool complete = false;

    if (stream != NULL) {
        if (array != NULL)
            array(stream, r, var, with);
        else if (var != NULL)
            pnc_references_array_write_attributes(stream, r->model, var);
        else
            pnc_references_group_write_attributes(stream, r->model);
        complete = ferror(stream) == 0;
        complete = fclose(stream) == 0 && complete;
    }
    if (complete) {
        pnc_references_key_begin(r, var);
        fputs(array != NULL ? ".zarray\": " : ".zattrs\": ", r->out);
        pnc_references_text_write(r->out, text, length);
    }
    free(text);
    return complete ? NC_NOERR : pnc_error_set(r->error, NC_ENOMEM, "%s: not enough memory for attributes", r->path);
}

static void write_classic_array(FILE *out, const pnc_references *r, const pnc_var *var, const void *with)
{
    pnc_zarr_chunks chunks;

    (void)with;
    pnc_references_chunks_choose(var, r->chunk, &chunks);
    pnc_references_array_write(out, r->model, var, &chunks, r->numrecs);
}

int pnc_references_metadata_write(const pnc_references *r)
{
    PNC_TRY(pnc_references_document_write(r, NULL, NULL, NULL));
    for (int i = 0; i < r->model->nvars; i++) {
        const pnc_var *var = r->model->vars[i];

        if (!pnc_references_var_is_listed(r, var))
            continue;
        PNC_TRY(pnc_references_document_write(r, var, write_classic_array, NULL));
        PNC_TRY(pnc_references_document_write(r, var, NULL, NULL));
    }
    return NC_NOERR;
}

/* --- chunks --- */

/* The chunks of a fixed-size variable, or of one record, which begins at `begin`. */
static void write_var_extents(const pnc_references *r, const pnc_var *var, int64_t record, int64_t begin)
{
    pnc_zarr_chunks chunks;

    pnc_references_chunks_choose(var, r->chunk, &chunks);
    for (int64_t i = 0; i < chunks.number; i++) {
        pnc_references_key_begin(r, var);
        pnc_references_key_write(r->out, var, &chunks, record, i);
        pnc_references_extent_write(r, begin + i * chunks.size, chunks.size);
    }
}

void pnc_references_records_write(pnc_references *r, const pnc_model *model)
{
    for (int i = 0; i < r->model->nvars; i++) {
        const pnc_var *var = r->model->vars[i];
        int64_t begin;

        if (!var->is_record || !pnc_references_var_is_listed(r, var))
            continue;
        begin = model->vars[pnc_format_var_find(model, var->name)]->classic.begin;
        for (int64_t k = 0; k < model->numrecs; k++)
            write_var_extents(r, var, r->numrecs + k, begin + k * model->classic.recsize);
    }
    r->numrecs += model->numrecs;
}

void pnc_references_fixed_write(const pnc_references *r)
{
    for (int i = 0; i < r->model->nvars; i++)
        if (!r->model->vars[i]->is_record && pnc_references_var_is_listed(r, r->model->vars[i]))
            write_var_extents(r, r->model->vars[i], 0, r->model->vars[i]->classic.begin);
}
