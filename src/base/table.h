/* Map from name to index (a thin layer over uthash). */
#ifndef PNC_BASE_TABLE_H
#define PNC_BASE_TABLE_H

typedef struct pnc_table {
    struct pnc_table_entry *head;
} pnc_table;

int pnc_table_find(const pnc_table *table, const char *name);     /* index, or -1 */
int pnc_table_add(pnc_table *table, const char *name, int index); /* NC_NOERR or NC_ENOMEM; name is borrowed */
void pnc_table_remove(pnc_table *table, const char *name);
void pnc_table_set(pnc_table *table, const char *name, int index); /* change the index of an existing name */
void pnc_table_clear(pnc_table *table);

#endif
