/* Which ncid names which open dataset. */
#include "dataset/dataset.h"

#include <pthread.h>

/* Threads may open and close different datasets at once; a dataset itself belongs to one thread at a time. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pnc_dataset *open_datasets[NC_MAX_NFILES];

int pnc_registry_add(pnc_dataset *ds, int *ncid)
{
    int err = NC_ENFILE;

    pthread_mutex_lock(&lock);
    for (int i = 0; i < NC_MAX_NFILES && err != NC_NOERR; i++) {
        if (open_datasets[i] == NULL) {
            open_datasets[i] = ds;
            *ncid = i;
            err = NC_NOERR;
        }
    }
    pthread_mutex_unlock(&lock);
    return err;
}

void pnc_registry_remove(int ncid)
{
    pthread_mutex_lock(&lock);
    open_datasets[ncid] = NULL;
    pthread_mutex_unlock(&lock);
}

int pnc_registry_find(int ncid, pnc_dataset **out)
{
    pnc_dataset *ds = NULL;

    if (ncid >= 0 && ncid < NC_MAX_NFILES) {
        pthread_mutex_lock(&lock);
        ds = open_datasets[ncid];
        pthread_mutex_unlock(&lock);
    }
    if (ds == NULL)
        return NC_EBADID;
    pnc_error_clear(&ds->error);
    *out = ds;
    return NC_NOERR;
}

int pnc_registry_list(int *num, int *ncids)
{
    int n = 0;

    pthread_mutex_lock(&lock);
    for (int i = 0; i < NC_MAX_NFILES; i++) {
        if (open_datasets[i] != NULL) {
            if (ncids != NULL)
                ncids[n] = i;
            n++;
        }
    }
    pthread_mutex_unlock(&lock);
    if (num != NULL)
        *num = n;
    return NC_NOERR;
}
