/* Attribute lists. Most variables have few attributes: a list is searched linearly, and gets a hash table from
 * PNC_ATTS_HASHED entries on. */
#include "format/entries.h"

#include <string.h>

#include "base/memory.h"
#include "base/name.h"

#define PNC_ATTS_HASHED 16 /* entries from which a list has a hash table */

pnc_att *pnc_format_att_create(const char *name, int64_t name_len, int type, int64_t len, const void *value)
{
    pnc_att *att;
    int64_t bytes, total;

    if (pnc_size_multiply(len, (int64_t)pnc_type_get_size(type), &bytes) < 0 ||
        pnc_size_add(bytes, name_len + 1 + (int64_t)sizeof *att, &total) < 0)
        return NULL;
    att = pnc_memory_alloc(total, 1);
    if (att == NULL)
        return NULL;
    att->type = type;
    att->len = len;
    att->where = -1;
    att->value = bytes > 0 ? att + 1 : NULL;
    if (value != NULL && bytes > 0)
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
        if (pnc_table_add(&atts->names, atts->at[i]->name, i) != NC_NOERR) {
            pnc_table_clear(&atts->names);
            return;
        }
    }
}

int pnc_format_atts_append(pnc_atts *atts, pnc_att *att)
{
    if (att == NULL)
        return NC_ENOMEM;
    if (pnc_format_list_grow((void ***)&atts->at, atts->n, &atts->capacity) != NC_NOERR) {
        pnc_memory_free(att);
        return NC_ENOMEM;
    }
    atts->at[atts->n++] = att;
    if (atts->names.slots == NULL) {
        if (atts->n >= PNC_ATTS_HASHED)
            hash_names(atts);
    } else if (pnc_table_add(&atts->names, att->name, atts->n - 1) != NC_NOERR) {
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

/* Replace the attribute at index by att. The table borrows names: the old name is removed first. */
static void replace_att(pnc_atts *atts, int index, pnc_att *att)
{
    pnc_att *old = atts->at[index];

    att->where = old->where;
    atts->at[index] = att;
    if (atts->names.slots != NULL) {
        pnc_table_remove(&atts->names, old->name);
        if (pnc_table_add(&atts->names, att->name, index) != NC_NOERR)
            pnc_table_clear(&atts->names);
    }
    pnc_memory_free(old);
}

int pnc_format_atts_put(pnc_atts *atts, const char *name, int type, int64_t len, const void *value, pnc_error *error)
{
    char *nfc = NULL;
    pnc_att *att;
    int index, code = NC_NOERR;

    PNC_TRY(pnc_name_normalise(name, &nfc, error));
    if (pnc_type_get_size(type) == 0) {
        code = pnc_error_set(error, NC_EBADTYPE, "attribute \"%s\": %d is not an external type", nfc, type);
        goto free_name;
    }
    if (len < 0 || (len > 0 && value == NULL)) {
        code = pnc_error_set(error, NC_EINVAL,
                             len < 0 ? "attribute \"%s\": length %lld is negative"
                                     : "attribute \"%s\": the pointer to its %lld values is NULL",
                             nfc, (long long)len);
        goto free_name;
    }
    index = pnc_format_atts_find_exact(atts, nfc);
    if (index < 0) /* names in files of other writers need not be in NFC */
        index = pnc_format_atts_find_exact(atts, name);
    if (index >= 0) /* keep the name as it is in the file */
        name = atts->at[index]->name;
    else
        name = nfc;
    att = pnc_format_att_create(name, (int64_t)strlen(name), type, len, value);
    if (att != NULL && index >= 0)
        replace_att(atts, index, att);
    else
        code = pnc_format_atts_append(atts, att);
    if (code != NC_NOERR)
        pnc_error_set(error, code, "attribute \"%s\": no memory for %lld values of type %s", nfc, (long long)len,
                      pnc_type_get_name(type));
free_name:
    pnc_memory_free(nfc);
    return code;
}

int pnc_format_atts_rename(pnc_atts *atts, int index, const char *name, pnc_error *error)
{
    char *nfc = NULL;
    pnc_att *old, *att;
    int code = NC_NOERR;

    PNC_TRY(pnc_name_normalise(name, &nfc, error));
    if (index < 0 || index >= atts->n) {
        code = pnc_error_set(error, NC_ENOTATT, "attribute %d does not exist: the list has %d", index, atts->n);
        goto free_name;
    }
    old = atts->at[index];
    if (pnc_format_atts_find_exact(atts, nfc) >= 0) {
        code = pnc_error_set(error, NC_ENAMEINUSE, "attribute \"%s\" cannot be renamed to \"%s\": that name is in use",
                             old->name, nfc);
        goto free_name;
    }
    att = pnc_format_att_create(nfc, (int64_t)strlen(nfc), old->type, old->len, old->value);
    if (att != NULL)
        replace_att(atts, index, att);
    else
        code = pnc_error_set(error, NC_ENOMEM, "attribute \"%s\": no memory to rename it", old->name);
free_name:
    pnc_memory_free(nfc);
    return code;
}

int pnc_format_atts_delete(pnc_atts *atts, int index)
{
    if (index < 0 || index >= atts->n)
        return NC_ENOTATT;
    pnc_table_remove(&atts->names, atts->at[index]->name);
    pnc_memory_free(atts->at[index]);
    atts->n--;
    for (int i = index; i < atts->n; i++) {
        atts->at[i] = atts->at[i + 1];
        pnc_table_set(&atts->names, atts->at[i]->name, i);
    }
    return NC_NOERR;
}

int pnc_format_atts_copy(pnc_atts *out, const pnc_atts *from)
{
    memset(out, 0, sizeof *out);
    for (int i = 0; i < from->n; i++) {
        const pnc_att *att = from->at[i];
        pnc_att *copy = pnc_format_att_create(att->name, (int64_t)strlen(att->name), att->type, att->len, att->value);
        if (copy != NULL)
            copy->where = att->where;
        PNC_TRY(pnc_format_atts_append(out, copy));
    }
    return NC_NOERR;
}

void pnc_format_atts_free(pnc_atts *atts)
{
    pnc_table_clear(&atts->names);
    for (int i = 0; i < atts->n; i++)
        pnc_memory_free(atts->at[i]);
    pnc_memory_free(atts->at);
    memset(atts, 0, sizeof *atts);
}
