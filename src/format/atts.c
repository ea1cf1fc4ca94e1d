/* Attribute lists. Most variables have few attributes: a list is searched linearly, and gets a hash table from
 * PNC_ATTS_HASHED entries on. */
#include "format/entries.h"

#include <string.h>

#include "base/memory.h"
#include "base/name.h"
#include "base/path.h"
#include "format/groups.h"
#include "format/strings.h"

#define PNC_ATTS_HASHED 16 /* entries from which a list has a hash table */

pnc_att *pnc_format_att_create(pnc_region *region, const char *name, int64_t name_len, int type, int64_t len,
                               const void *value)
{
    pnc_att *att;
    int64_t bytes, total;

    if (pnc_size_multiply(len, (int64_t)pnc_type_get_size(type), &bytes) < 0 ||
        pnc_size_add(bytes, name_len + 1 + (int64_t)sizeof *att, &total) < 0)
        return NULL;
    att = pnc_region_alloc(region, total);
    if (att == NULL)
        return NULL;
    att->type = type;
    att->len = len;
    att->classic.where = -1;
    att->value = bytes > 0 ? att + 1 : NULL;
    att->strings = (pnc_strings){0};
    if (bytes > 0)
        memcpy(att->value, value, (size_t)bytes);
    att->name = (char *)(att + 1) + bytes;
    memcpy(att->name, name, (size_t)name_len);
    att->name[name_len] = '\0';
    return att;
}

/* Without memory for the table the list is still searched linearly. */
static void hash_names(pnc_atts *atts)
{
    for (int i = 0; i < atts->n; i++) {
        if (pnc_table_add(&atts->names, atts->at[i]->name, i) == NC_ENOMEM) {
            pnc_table_clear(&atts->names);
            return;
        }
    }
}

int pnc_format_atts_append(pnc_region *region, pnc_atts *atts, pnc_att *att)
{
    if (att == NULL)
        return NC_ENOMEM;
    PNC_TRY(pnc_format_list_grow(region, (void ***)&atts->at, atts->n, &atts->capacity));
    atts->at[atts->n++] = att;
    if (atts->names.slots == NULL) {
        if (atts->n >= PNC_ATTS_HASHED)
            hash_names(atts);
    } else if (pnc_table_add(&atts->names, att->name, atts->n - 1) == NC_ENOMEM) {
        pnc_table_clear(&atts->names);
    }
    return NC_NOERR;
}

int pnc_format_atts_find_exact(const pnc_atts *atts, const char *name)
{
    if (atts->names.slots != NULL)
        return pnc_table_find(&atts->names, name);
    for (int i = 0; i < atts->n; i++)
        if (strcmp(atts->at[i]->name, name) == 0)
            return i;
    return -1;
}

int pnc_format_atts_find(const pnc_atts *atts, const char *name)
{
    char *owned;
    int index;

    if (name == NULL)
        return -1;
    index = pnc_format_atts_find_exact(atts, pnc_name_make_key(name, &owned));
    if (index < 0 && owned != NULL) /* names in files of other writers need not be in NFC */
        index = pnc_format_atts_find_exact(atts, name);
    pnc_memory_free(owned);
    return index;
}

/* The strings are in the region. */
static pnc_att *create_like(pnc_region *region, const char *name, const pnc_att *new)
{
    pnc_att *att = pnc_format_att_create(region, name, (int64_t)strlen(name), new->type, new->len, new->value);

    if (att != NULL)
        att->strings = new->strings;
    return att;
}

/* Replace the attribute at index by att. The table borrows names: the old name is removed first. */
static void replace_att(pnc_atts *atts, int index, pnc_att *att)
{
    pnc_att *old = atts->at[index];

    att->classic.where = old->classic.where;
    atts->at[index] = att;
    if (atts->names.slots != NULL) {
        pnc_table_remove(&atts->names, old->name);
        if (pnc_table_add(&atts->names, att->name, index) != NC_NOERR)
            pnc_table_clear(&atts->names);
    }
}

/* A value that fits in the memory of the old one replaces it there: programs overwrite an attribute again and again.
 * The name remains as it is in the file. */
static int replace_value(pnc_region *region, pnc_atts *atts, int index, const pnc_att *new)
{
    pnc_att *old = atts->at[index], *att;
    int64_t bytes;

    if (pnc_size_multiply(new->len, (int64_t)pnc_type_get_size(new->type), &bytes) < 0)
        return NC_ENOMEM;
    if (bytes > old->len * (int64_t)pnc_type_get_size(old->type)) {
        att = create_like(region, old->name, new);
        if (att == NULL)
            return NC_ENOMEM;
        replace_att(atts, index, att);
        return NC_NOERR;
    }
    if (bytes > 0)
        memmove(old->value, new->value, (size_t)bytes); /* ncmpi_copy_att may pass it to itself */
    else
        old->value = NULL;
    old->type = new->type;
    old->len = new->len;
    old->strings = new->strings;
    return NC_NOERR;
}

bool pnc_format_att_name_is_hidden(const pnc_rules *rules, const char *name)
{
    for (int i = 0; rules->hidden_atts != NULL && rules->hidden_atts[i] != NULL; i++)
        if (strcmp(name, rules->hidden_atts[i]) == 0)
            return true;
    return false;
}

int pnc_format_att_name_check(const pnc_rules *rules, const char *name, pnc_error *error)
{
    if (!pnc_format_att_name_is_hidden(rules, pnc_path_get_name(name)))
        return NC_NOERR;
    return pnc_error_set(error, NC_ENAMEINUSE,
                         "no attribute can have the name \"%s\": %s files keep it for their own facts", name,
                         rules->name);
}

static int put_or_replace(pnc_model *model, pnc_atts *atts, const char *name, const pnc_att *new, pnc_error *error)
{
    const int type = new->type;
    const int64_t len = new->len;
    char *nfc = NULL;
    int index, code = NC_NOERR;

    if (atts == &model->gatts)
        PNC_TRY(pnc_format_path_normalise(model, name, &nfc, error));
    else
        PNC_TRY(pnc_name_normalise(name, &nfc, error));
    if (atts == &model->gatts && strchr(nfc, '/') != NULL)
        code = pnc_format_groups_check(model, error);
    if (code != NC_NOERR)
        goto free_name;
    if (pnc_type_get_size(type) == 0) {
        code = pnc_error_set(error, NC_EBADTYPE, "attribute \"%s\": xtype is %s", nfc,
                             pnc_type_explain_invalid(type, pnc_error_get_language(error)).text);
        goto free_name;
    }
    if (len < 0 || (len > 0 && new->value == NULL)) {
        code = pnc_error_set(error, NC_EINVAL,
                             len < 0 ? "attribute \"%s\": length %lld is negative"
                                     : "attribute \"%s\": the pointer to its %lld values is NULL",
                             nfc, (long long)len);
        goto free_name;
    }
    index = pnc_format_atts_find_exact(atts, nfc);
    if (index < 0) /* names in files of other writers need not be in NFC */
        index = pnc_format_atts_find_exact(atts, name);
    if (index >= 0)
        code = replace_value(&model->region, atts, index, new);
    else
        code = pnc_format_atts_append(&model->region, atts, create_like(&model->region, nfc, new));
    if (code != NC_NOERR)
        pnc_error_set(error, code, "attribute \"%s\": no memory for %lld values of type %s", nfc, (long long)len,
                      pnc_type_get_name(type));
free_name:
    pnc_memory_free(nfc);
    return code;
}

int pnc_format_atts_put(pnc_model *model, pnc_atts *atts, const char *name, int type, int64_t len, const void *value,
                        pnc_error *error)
{
    return put_or_replace(model, atts, name, &(pnc_att){.type = type, .len = len, .value = (void *)value}, error);
}

int pnc_format_atts_put_strings(pnc_model *model, pnc_atts *atts, const char *name, const pnc_strings *strings,
                                const char *text, pnc_error *error)
{
    pnc_att new = {.type = NC_CHAR, .len = pnc_format_strings_get_length(strings), .value = (void *)text};

    if (pnc_format_strings_copy(&model->region, strings, &new.strings) != NC_NOERR)
        return pnc_error_set(error, NC_ENOMEM, "attribute \"%s\": no memory for %lld strings", name,
                             (long long)strings->n);
    return put_or_replace(model, atts, name, &new, error);
}

bool pnc_format_att_is_same(const pnc_att *a, const pnc_att *b)
{
    const pnc_strings *x = &a->strings, *y = &b->strings;

    if (a->type != b->type || a->len != b->len || (x->lengths == NULL) != (y->lengths == NULL) || x->n != y->n)
        return false;
    return (a->len == 0 || memcmp(a->value, b->value, (size_t)a->len * pnc_type_get_size(a->type)) == 0) &&
           (x->n == 0 || memcmp(x->lengths, y->lengths, (size_t)x->n * sizeof *x->lengths) == 0);
}

int pnc_format_atts_rename(pnc_model *model, pnc_atts *atts, int index, const char *name, pnc_error *error)
{
    char *nfc = NULL;
    int code = NC_NOERR;

    if (atts == &model->gatts && index >= 0 && index < atts->n)
        PNC_TRY(pnc_format_path_replace(model, atts->at[index]->name, name, &nfc, error));
    else
        PNC_TRY(pnc_name_normalise(name, &nfc, error));
    if (index < 0 || index >= atts->n) {
        code = pnc_error_set(error, NC_ENOTATT, "attribute %d does not exist: the list has %d", index, atts->n);
        goto free_name;
    }
    if (pnc_format_atts_find_exact(atts, nfc) >= 0) {
        code = pnc_error_set(error, NC_ENAMEINUSE, "attribute \"%s\" cannot be renamed to \"%s\": that name is in use",
                             atts->at[index]->name, nfc);
        goto free_name;
    }
    code = pnc_format_name_replace(model, &atts->names, index, &atts->at[index]->name, nfc);
    if (code != NC_NOERR)
        pnc_error_set(error, code, "attribute \"%s\": no memory to rename it", atts->at[index]->name);
free_name:
    pnc_memory_free(nfc);
    return code;
}

int pnc_format_atts_delete(pnc_atts *atts, int index)
{
    if (index < 0 || index >= atts->n)
        return NC_ENOTATT;
    pnc_table_remove(&atts->names, atts->at[index]->name);
    atts->n--;
    for (int i = index; i < atts->n; i++) {
        atts->at[i] = atts->at[i + 1];
        pnc_table_set(&atts->names, atts->at[i]->name, i);
    }
    return NC_NOERR;
}

int pnc_format_atts_copy(pnc_region *region, pnc_atts *out, const pnc_atts *from)
{
    memset(out, 0, sizeof *out);
    PNC_TRY(pnc_format_list_reserve(region, (void ***)&out->at, 0, &out->capacity, from->n));
    for (int i = 0; i < from->n; i++) {
        const pnc_att *att = from->at[i];
        pnc_att *copy = create_like(region, att->name, att);
        if (copy == NULL)
            return NC_ENOMEM;
        copy->classic.where = att->classic.where;
        PNC_TRY(pnc_format_strings_copy(region, &att->strings, &copy->strings));
        PNC_TRY(pnc_format_atts_append(region, out, copy));
    }
    return NC_NOERR;
}

void pnc_format_atts_free(pnc_atts *atts)
{
    pnc_table_clear(&atts->names);
    memset(atts, 0, sizeof *atts);
}
