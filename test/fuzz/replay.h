/* What fuzz targets share: how they fail, and, with PNC_FUZZ_REPLAY, a program without a fuzzer that passes each file
 * of a corpus to the target once. */
#ifndef PNC_TEST_FUZZ_REPLAY_H
#define PNC_TEST_FUZZ_REPLAY_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                            \
    do {                                                                              \
        if (!(condition)) {                                                           \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                                  \
        }                                                                             \
    } while (0)

#ifdef PNC_FUZZ_REPLAY
#include <dirent.h>

static int count;

static void replay_file(const char *path, const char *name)
{
    FILE *file = fopen(path, "rb");
    uint8_t *exact = NULL;
    long size = -1;

    if (file != NULL && fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    if (size >= 0) {
        rewind(file);
        exact = malloc((size_t)size + !size); /* no byte more, so that a sanitizer detects a read beyond the end */
    }
    if (exact == NULL || fread(exact, 1, (size_t)size, file) != (size_t)size) {
        printf("not ok %d - %s cannot be read\n", ++count, name);
    } else {
        fflush(stdout);
        LLVMFuzzerTestOneInput(exact, (size_t)size);
        printf("ok %d - %s\n", ++count, name);
    }
    free(exact);
    if (file != NULL)
        fclose(file);
}

static int replay_folder(const char *folder)
{
    struct dirent **names;
    int n = scandir(folder, &names, NULL, alphasort);

    if (n < 0) {
        printf("not ok %d - folder %s cannot be read\n", ++count, folder);
        return 1;
    }
    for (int i = 0; i < n; i++) {
        char path[4096];
        if (names[i]->d_name[0] != '.') {
            snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
            replay_file(path, names[i]->d_name);
        }
        free(names[i]);
    }
    free(names);
    return 0;
}

/* Without folders: test/fuzz/NAME below PNC_SOURCE. */
static int replay(int argc, char **argv, const char *name)
{
    const char *source = getenv("PNC_SOURCE");
    char corpus[4096];
    int failed = 0;

    for (int i = 1; i < argc; i++)
        failed |= replay_folder(argv[i]);
    if (argc == 1) {
        snprintf(corpus, sizeof corpus, "%s/test/fuzz/%s", source != NULL ? source : ".", name);
        failed = replay_folder(corpus);
    }
    if (count == 0) {
        printf("not ok 1 - the corpus is empty\n");
        count = failed = 1;
    }
    printf("1..%d\n", count);
    return failed;
}
#endif

#endif
