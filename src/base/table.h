/* Map from name to index: a hash table with open addressing and linear probing. Each table has a key of its own, so
 * that no file can have names which collide: a search takes some steps, whatever the names. */
#ifndef PNC_BASE_TABLE_H
#define PNC_BASE_TABLE_H

#include <stdint.h>

typedef struct pnc_table {
    struct pnc_table_slots *slots; /* NULL: empty */
    int64_t n, capacity;           /* names; slots, a power of 2 */
} pnc_table;

int pnc_table_reserve(pnc_table *table, int64_t n);           /* memory for n names in total. NC_NOERR or NC_ENOMEM */
int pnc_table_find(const pnc_table *table, const char *name); /* index, or -1 */
/* NC_NOERR or NC_ENOMEM; NC_ENAMEINUSE if the table has the name, which keeps its index. The name is borrowed. */
int pnc_table_add(pnc_table *table, const char *name, int index);
void pnc_table_remove(pnc_table *table, const char *name);
void pnc_table_set(pnc_table *table, const char *name, int index); /* change the index of an existing name */
void pnc_table_clear(pnc_table *table);

#endif
