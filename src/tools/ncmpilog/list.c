/* Listing what logs and marks have. */
#include "tools/ncmpilog/list.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "host/bytes.h"
#include "tools/common/file.h"
#include "tools/common/message.h"
#include "tools/ncmpilog/options.h"
#include "tools/ncmpilog/source.h"

static int print_log(log_source *source)
{
    pnc_log_summary *s = &source->summary;
    const pnc_log_front *front = &source->reader.front;

    pnc_log_reader_examine(&source->reader, s);
    tool_text_print(source->path);
    printf(": the log of rank %lld of %lld, stamp %016llx\n", (long long)front->rank, (long long)front->nranks,
           (unsigned long long)front->stamp);
    if (front->call == PNC_LOG_EVERYTHING)
        printf("  the rank had stopped to use it: the file has what it has put\n");
    else
        printf("  complete to call %lld, with %lld records after it\n", (long long)s->call, (long long)s->numrecs);
    if (s->blocks > 0)
        printf("  %lld blocks of %lld bytes, from calls %lld to %lld\n", (long long)s->blocks, (long long)s->bytes,
               (long long)s->first, (long long)s->last);
    else
        printf("  no blocks\n");
    if (s->is_damaged)
        printf("  damaged: more blocks follow byte %lld, which is not the begin of one\n", (long long)s->end);
    if (log_source_is_held(source))
        printf("  its program runs\n");
    return s->blocks > 0 ? LOG_WAITS : LOG_DONE;
}

/* Consecutive ranks of a node on one line. */
static void print_nodes(const pnc_log_mark *mark)
{
    for (int64_t i = 0, end; i < mark->nranks; i = end) {
        for (end = i + 1; end < mark->nranks && strcmp(mark->nodes[i], mark->nodes[end]) == 0; end++)
            ;
        printf(end - i > 1 ? "  ranks %lld to %lld on " : "  rank %lld on ", (long long)i, (long long)end - 1);
        tool_text_print(mark->nodes[i]);
        putchar('\n');
    }
}

static int print_mark(const char *path, const char *file)
{
    char name[PNC_LOG_NAME_BYTES];
    pnc_log_mark mark;
    bool found;
    int err = log_mark_load(path, &found, &mark);

    if (err == NC_NOERR && !found) {
        tool_text_print(file);
        printf(": no burst buffer has values that the file does not have, as there is no mark ");
        tool_text_print(path);
        putchar('\n');
    } else if (err == NC_NOERR) {
        pnc_log_name_format(mark.file, mark.stamp, 0, name);
        tool_text_print(path);
        printf(": values that were put may be in %lld logs only", (long long)mark.nranks);
        printf("\n  first log: ");
        tool_text_print(mark.folder);
        putchar('/');
        tool_text_print(name);
        putchar('\n');
        if (mark.job[0] != '\0') {
            printf("  job: ");
            tool_text_print(mark.job);
            putchar('\n');
        }
        print_nodes(&mark);
        printf("  ncmpilog --replay=");
        tool_text_print(mark.folder);
        printf(" writes them to the file, if the folder has all logs\n");
    }
    pnc_log_mark_free(&mark);
    if (err != NC_NOERR)
        return LOG_FAILED;
    return found ? LOG_WAITS : LOG_DONE;
}

static int print_mark_of(const char *file)
{
    char *path = log_mark_locate(file);
    int status = path != NULL ? print_mark(path, file) : LOG_FAILED;

    pnc_memory_free(path);
    return status;
}

int log_file_print(const char *path)
{
    log_source source;
    tool_file file;
    char head[32];
    bool is_mark;
    int err = log_source_open(path, &source), status;

    if (err == NC_NOERR) {
        status = print_log(&source);
        log_source_close(&source);
        return status;
    }
    is_mark = err == NC_EBADLOG && source.reader.size >= (int64_t)sizeof head &&
              pnc_host_bytes_read(source.fd, 0, head, sizeof head) == 0 && pnc_log_mark_is_begin(head, sizeof head);
    log_source_close(&source);
    if (is_mark)
        return print_mark(path, path);
    err = tool_file_open(path, &file); /* with a message */
    tool_file_close(&file);
    return err == NC_NOERR ? print_mark_of(path) : LOG_FAILED;
}
