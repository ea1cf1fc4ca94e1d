/* Names in a file that no program could define: empty, or no UTF-8. Such a file can be read, and data can be written,
 * but the header is never written with such a name, neither by enddef nor in data mode; after it was renamed, it is.
 * The names are written here into the bytes of a file that the library has made. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../expect.h"

enum { NX = 20 };
enum { DIMENSION, VARIABLE, GLOBAL, ATTRIBUTE, KINDS };
static const char *const kinds[KINDS] = {"dimension", "variable", "global attribute", "attribute of a variable"};
static const char *const marks[KINDS] = {"NAME_OF_D_IM", "NAME_OF_V_AR", "NAME_OF_G_AT", "NAME_OF_V_AT"};

static const struct {
    const char *what, *bytes; /* as long as the marks, or empty */
} bad[] = {{"empty", ""},
           {"of Latin-1", "K\xf6ln-am-Rhei"},
           {"cut", "NAME_OF_D_I\xc3"},
           {"overlong", "NAME_\xc0\xafOF_DI"},
           {"of surrogates", "NAME_\xed\xa0\x80_DIM"}};

static char path[4096];

typedef struct image {
    char bytes[1 << 14];
    size_t n;
} image;

static void make_file(void)
{
    int ncid, dims[1], varid, values[NX];

    expect_ok(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &ncid), "create");
    ncmpi_def_dim(ncid, marks[DIMENSION], NX, &dims[0]);
    ncmpi_def_var(ncid, marks[VARIABLE], NC_INT, 1, dims, &varid);
    ncmpi_put_att_text(ncid, NC_GLOBAL, marks[GLOBAL], 5, "12345");
    ncmpi_put_att_text(ncid, varid, marks[ATTRIBUTE], 5, "12345");
    ncmpi_put_att_text(ncid, NC_GLOBAL, "sound", 5, "12345");
    expect_ok(ncmpi_enddef(ncid), "enddef");
    for (int i = 0; i < NX; i++)
        values[i] = 10 + i;
    expect_ok(ncmpi_put_var_int_all(ncid, varid, values), "put");
    expect_ok(ncmpi_close(ncid), "close");
}

static void read_image(image *out)
{
    FILE *file = fopen(path, "rb");

    out->n = file == NULL ? 0 : fread(out->bytes, 1, sizeof out->bytes, file);
    if (file != NULL)
        fclose(file);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* An empty name is 12 bytes shorter: what follows in the header moves forward, the offsets of data stay. */
static void spoil(const char *mark, const char *name, size_t header)
{
    static image now;
    size_t at = 0, n = strlen(mark);
    FILE *file;

    read_image(&now);
    if (t_rank == 0) {
        while (at + n < now.n && memcmp(now.bytes + at, mark, n) != 0)
            at++;
        if (name[0] != '\0') {
            memcpy(now.bytes + at, name, n);
        } else {
            now.bytes[at - 1] = 0;
            memmove(now.bytes + at, now.bytes + at + n, header - at - n);
            memset(now.bytes + header - n, 0, n);
        }
        file = fopen(path, "wb");
        t_local(file != NULL && fwrite(now.bytes, 1, now.n, file) == now.n && fclose(file) == 0, "write the file");
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static bool has_remark(int ncid)
{
    char message[NC_MAX_MESSAGE] = "";
    int code = 1;

    return ncmpi_inq_last_error(ncid, &code, message) == NC_NOERR && code == NC_NOERR &&
           (strstr(message, "UTF-8") != NULL || strstr(message, "is empty") != NULL) && strstr(message, path) != NULL;
}

static bool has_values(int ncid, int first)
{
    int values[NX] = {0}, wrong = 0, err = ncmpi_get_var_int_all(ncid, 0, values);

    for (int i = 0; i < NX; i++)
        wrong += values[i] != first + i;
    return t_local(err == NC_NOERR && wrong == 0, "%s, %d wrong", ncmpi_strerrno(err), wrong);
}

static int inquire_name(int ncid, int kind, char *name)
{
    switch (kind) {
    case DIMENSION: return ncmpi_inq_dimname(ncid, 0, name);
    case VARIABLE: return ncmpi_inq_varname(ncid, 0, name);
    case GLOBAL: return ncmpi_inq_attname(ncid, NC_GLOBAL, 0, name);
    default: return ncmpi_inq_attname(ncid, 0, 0, name);
    }
}

static int give_name(int ncid, int kind, const char *old, const char *name)
{
    switch (kind) {
    case DIMENSION: return ncmpi_rename_dim(ncid, 0, name);
    case VARIABLE: return ncmpi_rename_var(ncid, 0, name);
    case GLOBAL: return ncmpi_rename_att(ncid, NC_GLOBAL, old, name);
    default: return ncmpi_rename_att(ncid, 0, old, name);
    }
}

static void test_reading(int kind, const char *name)
{
    char found[NC_MAX_NAME + 1] = "?";
    int ncid;

    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open to read");
    t_check(has_remark(ncid), "a remark");
    t_check(has_values(ncid, 10), "the values");
    t_check(inquire_name(ncid, kind, found) == NC_NOERR && strcmp(found, name) == 0, "the name as it is in the file");
    expect_ok(ncmpi_close(ncid), "close");
}

/* Every way to write a header, and data, which may be written. */
static void test_writing(void)
{
    static image before, after;
    int ncid, dim, values[NX];

    read_image(&before);
    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid), "open to write");
    expect_code(ncmpi_put_att_text(ncid, NC_GLOBAL, "sound", 1, "1"), NC_EBADNAME, "a shorter attribute");
    expect_code(ncmpi_put_att_text(ncid, NC_GLOBAL, "sound", 5, "54321"), NC_EBADNAME, "one of the same length");
    expect_code(ncmpi_rename_att(ncid, NC_GLOBAL, "sound", "s"), NC_EBADNAME, "a shorter name");
    expect_ok(ncmpi_redef(ncid), "redef");
    expect_code(ncmpi_enddef(ncid), NC_EBADNAME, "enddef without a change");
    ncmpi_def_dim(ncid, "more", 3, &dim);
    expect_code(ncmpi_enddef(ncid), NC_EBADNAME, "enddef with a dimension");
    expect_ok(ncmpi_abort(ncid), "abort");
    read_image(&after);
    t_check(before.n == after.n && memcmp(before.bytes, after.bytes, before.n) == 0, "no byte has changed");
    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid), "open to write");
    for (int i = 0; i < NX; i++)
        values[i] = 20 + i;
    expect_ok(ncmpi_put_var_int_all(ncid, 0, values), "put");
    expect_ok(ncmpi_close(ncid), "close");
}

static void test_mending(int kind, const char *name)
{
    char found[NC_MAX_NAME + 1] = "";
    int ncid;

    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid), "open to write");
    expect_ok(ncmpi_redef(ncid), "redef");
    expect_ok(give_name(ncid, kind, name, "better"), "rename");
    expect_ok(ncmpi_enddef(ncid), "enddef");
    expect_ok(ncmpi_close(ncid), "close");
    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open");
    t_check(!has_remark(ncid) && has_values(ncid, 20), "the values, and no remark");
    t_check(inquire_name(ncid, kind, found) == NC_NOERR && strcmp(found, "better") == 0, "the new name");
    expect_ok(ncmpi_close(ncid), "close");
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    snprintf(path, sizeof path, "%s", t_path("odd_names.nc"));
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
            int ncid;
            MPI_Offset header = 0;

            t_check(true, "%s with a name that is %s", kinds[kind], bad[i].what);
            make_file();
            expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open");
            ncmpi_inq_header_size(ncid, &header);
            t_check(!has_remark(ncid), "no remark on a sound file");
            expect_ok(ncmpi_close(ncid), "close");
            spoil(marks[kind], bad[i].bytes, (size_t)header);
            test_reading(kind, bad[i].bytes);
            test_writing();
            test_mending(kind, bad[i].bytes);
        }
    if (t_rank == 0)
        unlink(path);
    return t_finish();
}
