/* The table of open datasets, indexed by ncid. */
#include "dataset/registry.h"

#include <stdatomic.h>

#include "dataset/caller.h"
#include "dataset/last_error.h"
#include "file/agree.h"

/* Threads may open and close different datasets at once: one atomic operation takes or releases a slot. Only one thread
 * at a time may use a dataset. */
static _Atomic(pnc_dataset *) open_datasets[NC_MAX_NFILES];
/* Of the files of these datasets, as their stores have it: a thread that looks at them touches no other dataset. */
static struct {
    _Atomic int64_t device, inode;
} identities[NC_MAX_NFILES];
/* Tools that look for lost memory find the datasets here. */
static _Atomic(pnc_dataset *) abandoned;

int pnc_dataset_registry_add(pnc_dataset *ds, int *ncid)
{
    for (int i = 0; i < NC_MAX_NFILES; i++) {
        pnc_dataset *expected = NULL;

        *ncid = i; /* before other threads see the dataset, as ncid may point into it */
        if (atomic_compare_exchange_strong(&open_datasets[i], &expected, ds)) {
            atomic_store(&identities[i].device, ds->file.store->identity.device);
            atomic_store(&identities[i].inode, ds->file.store->identity.inode);
            return NC_NOERR;
        }
    }
    *ncid = -1;
    return pnc_error_set(&ds->error, NC_ENFILE, "%s: %d files are open already, the maximum: close some", ds->file.path,
                         NC_MAX_NFILES);
}

bool pnc_dataset_registry_has_file(int64_t device, int64_t inode)
{
    for (int i = 0; i < NC_MAX_NFILES; i++)
        if (device != 0 && atomic_load(&open_datasets[i]) != NULL && atomic_load(&identities[i].device) == device &&
            atomic_load(&identities[i].inode) == inode)
            return true;
    return false;
}

void pnc_dataset_registry_remove(int ncid)
{
    atomic_store(&open_datasets[ncid], NULL);
}

void pnc_dataset_registry_discard(pnc_dataset *ds)
{
    pnc_dataset_registry_remove(ds->ncid);
    ds->next_abandoned = atomic_load(&abandoned);
    while (!atomic_compare_exchange_weak(&abandoned, &ds->next_abandoned, ds))
        continue;
}

static inline pnc_dataset *get(int ncid)
{
    return ncid >= 0 && ncid < NC_MAX_NFILES ? atomic_load(&open_datasets[ncid]) : NULL;
}

pnc_dataset *pnc_dataset_registry_peek(int ncid)
{
    return get(ncid);
}

/* Each call goes through pnc_dataset_registry_find: it needs no stack. */
PNC_RARE static pnc_dataset *fail_not_open(int ncid, const char *call)
{
    pnc_error error = {0};

    pnc_dataset_caller_identify(call, &error);
    pnc_error_set(&error, NC_EBADID, "ncid is %d: not an open file; it was closed or never opened", ncid);
    pnc_dataset_error_report_call(call, NULL, NC_EBADID, &error);
    return NULL;
}

PNC_RARE static pnc_dataset *begin_special(pnc_dataset *ds, const char *call)
{
    pnc_dataset_call_begin();
    pnc_statistics_call_start(ds->file.statistics);
    ds->file.call.name = pnc_dataset_caller_identify(call, &ds->error);
    return ds;
}

pnc_dataset *pnc_dataset_registry_find(int ncid, const char *call)
{
    pnc_dataset *ds = get(ncid);

    if (ds == NULL)
        return fail_not_open(ncid, call);
    pnc_dataset_caller_set_c(&ds->error);
    pnc_error_clear(&ds->error);
    pnc_file_call_begin(&ds->file, call, call);
    if (pnc_dataset_caller_has_other() || pnc_dataset_failure_is_recent() || ds->file.statistics != NULL)
        return begin_special(ds, call);
    return ds;
}

int pnc_dataset_registry_list(int *num, int *ncids)
{
    int n = 0;

    for (int i = 0; i < NC_MAX_NFILES; i++) {
        if (pnc_dataset_registry_peek(i) != NULL) {
            if (ncids != NULL)
                ncids[n] = i;
            n++;
        }
    }
    if (num != NULL)
        *num = n;
    return NC_NOERR;
}
