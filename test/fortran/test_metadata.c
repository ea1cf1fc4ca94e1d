/* Every nfmpi_ function outside the data families, called from metadata.f90: what it defines is what C finds
 * in the file, what it inquires is what C defined or what the specification of the format requires. */
#include "../harness.h"

#include <stdio.h>
#include <string.h>

#include "pnetcdf.h"

void f77_report(const char *name, int good);
void f77_define(const char path[4096]);
void f77_inquire(const char path[4096], const MPI_Offset numbers[4]);
void f77_attributes(const char path[4096], const char other[4096]);
void f77_strings(const char path[4096]);
void f77_many_dimensions(const char path[4096]);
void f77_places(const char path[4096]);
void f77_requests(const char path[4096]);
void f77_reuse(const char path[4096]);
void f77_errors(const char path[4096]);

static char first[4097], second[4097];

void f77_report(const char *name, int good)
{
    t_local(good, "%s", name);
}

static const char *padded(char *room, const char *name)
{
    snprintf(room, 4097, "%-4096s", t_path(name));
    return room;
}

static int open_for_reading(const char *name)
{
    int ncid = -1;

    t_local(ncmpi_open(MPI_COMM_WORLD, t_path(name), NC_NOWRITE, MPI_INFO_NULL, &ncid) == NC_NOERR, "open %s", name);
    return ncid;
}

static void check_definitions(void)
{
    int ncid = open_for_reading("f77_define.nc"), ndims, dims[3], no_fill;
    char name[NC_MAX_NAME + 1] = "";
    MPI_Offset length, extent = 0;
    nc_type type;
    short missing = 0, temp[2 * 2 * 3];
    double grid[2 * 3];
    const double expected[2 * 3] = {1, NC_FILL_DOUBLE, NC_FILL_DOUBLE, 11, 12, 13};
    bool filled = true;

    t_check(ncmpi_inq_dim(ncid, 1, name, &length) == NC_NOERR && strcmp(name, "lat") == 0 && length == 2, "lat of 2");
    t_check(ncmpi_inq_var(ncid, 0, name, &type, &ndims, dims, NULL) == NC_NOERR && strcmp(name, "temp") == 0 &&
                type == NC_SHORT && ndims == 3 && dims[0] == 2 && dims[1] == 1 && dims[2] == 0,
            "in C temp has the dimensions time, lat, lon");
    t_check(ncmpi_inq_varndims(ncid, 3, &ndims) == NC_NOERR && ndims == 0, "one has no dimensions");
    t_check(ncmpi_inq_var_fill(ncid, 0, &no_fill, &missing) == NC_NOERR && no_fill == 0 && missing == -99,
            "fill value");
    t_check(ncmpi_inq_header_extent(ncid, &extent) == NC_NOERR && extent >= 400, "400 bytes free behind the header");
    t_check(ncmpi_get_var_double_all(ncid, 1, grid) == NC_NOERR && memcmp(grid, expected, sizeof grid) == 0,
            "put_vard reaches the second row");
    t_check(ncmpi_inq_dimlen(ncid, 2, &length) == NC_NOERR && length == 2, "record 2 of Fortran is the second one");
    t_local(ncmpi_get_var_short_all(ncid, 0, temp) == NC_NOERR, "read temp");
    for (int i = 6; i < 12; i++)
        filled = filled && temp[i] == -99;
    t_check(filled, "fill_var_rec fills it");
    t_check(ncmpi_close(ncid) == NC_NOERR, "close");
}

/* The numbers that Fortran has to find, from C. */
static void inquire(void)
{
    int ncid = open_for_reading("f77_define.nc");
    MPI_Offset numbers[4] = {0};

    t_local(ncmpi_inq_header_size(ncid, &numbers[0]) == NC_NOERR &&
                ncmpi_inq_header_extent(ncid, &numbers[1]) == NC_NOERR &&
                ncmpi_inq_varoffset(ncid, 1, &numbers[2]) == NC_NOERR &&
                ncmpi_inq_recsize(ncid, &numbers[3]) == NC_NOERR && ncmpi_close(ncid) == NC_NOERR,
            "inquire from C");
    /* a record: 2 x 3 shorts, and 1 byte filled up to 4 */
    t_check(numbers[3] == 12 + 4, "16 bytes a record, not %lld", (long long)numbers[3]);
    f77_inquire(padded(first, "f77_define.nc"), numbers);
    t_check(true, "what Fortran inquires");
}

static void check_attributes(void)
{
    static const struct {
        const char *name;
        nc_type type;
    } atts[] = {{"a_int1", NC_BYTE},  {"a_int2", NC_SHORT}, {"a_int", NC_INT},
                {"a_int8", NC_INT64}, {"a_real", NC_FLOAT}, {"a_double", NC_DOUBLE}};
    int ncid = open_for_reading("f77_attributes.nc"), natts = 0, answer = 0;
    char text[5] = "";
    short copied[2] = {0};

    for (size_t i = 0; i < sizeof atts / sizeof atts[0]; i++) {
        nc_type type = NC_NAT;
        MPI_Offset length = 0;
        int values[2] = {0};

        t_local(ncmpi_inq_att(ncid, 0, atts[i].name, &type, &length) == NC_NOERR && length == 2, "length");
        t_local(ncmpi_get_att_int(ncid, 0, atts[i].name, values) == NC_NOERR, "get_att_int");
        t_check(type == atts[i].type && values[0] == 7 && values[1] == 8, "attribute %s", atts[i].name);
    }
    t_check(ncmpi_get_att_text(ncid, 0, "a_text", text) == NC_NOERR && strcmp(text, "abcd") == 0,
            "put_att_text takes the given length");
    t_check(ncmpi_inq_natts(ncid, &natts) == NC_NOERR && natts == 1 &&
                ncmpi_get_att_int(ncid, NC_GLOBAL, "answer", &answer) == NC_NOERR && answer == 42,
            "of the attributes of the file one was renamed, one deleted");
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    ncid = open_for_reading("f77_copy.nc");
    t_check(ncmpi_get_att_short(ncid, NC_GLOBAL, "a_int2", copied) == NC_NOERR && copied[0] == 7 && copied[1] == 8,
            "copy_att");
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
}

static void check_strings(void)
{
    int ncid = open_for_reading("f77_strings.nc"), id;
    char text[11] = "", nul[4] = "";

    t_check(ncmpi_inq_varid(ncid, "message", &id) == NC_NOERR, "a name ends at its first NUL");
    t_check(ncmpi_get_var_text_all(ncid, 0, text) == NC_NOERR && memcmp(text, "heLLo     ", 10) == 0, "the message");
    t_check(ncmpi_get_att_text(ncid, 0, "nul", nul) == NC_NOERR && memcmp(nul, "a\0b", 3) == 0,
            "a NUL in an attribute");
    t_check(ncmpi_close(ncid) == NC_NOERR, "close");
}

static void check_reuse(void)
{
    int ncid = open_for_reading("f77_reuse.nc"), a[10] = {0}, b[10] = {0}, wrong = 0;

    t_local(ncmpi_get_var_int_all(ncid, 0, a) == NC_NOERR && ncmpi_get_var_int_all(ncid, 1, b) == NC_NOERR, "get");
    for (int i = 0; i < 5; i++)
        wrong += a[i] != i + 1 || a[5 + i] != 101 + i || b[5 + i] != 106 + i;
    t_check(wrong == 0, "the index of each turn of the loop, and the ends of two variables (%d wrong)", wrong);
    t_check(ncmpi_close(ncid) == NC_NOERR, "close");
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    f77_define(padded(first, "f77_define.nc"));
    t_check(true, "Fortran defines dimensions and variables");
    check_definitions();
    inquire();
    f77_attributes(padded(first, "f77_attributes.nc"), padded(second, "f77_copy.nc"));
    t_check(true, "Fortran writes and reads attributes");
    check_attributes();
    f77_strings(padded(first, "f77_strings.nc"));
    t_check(true, "Fortran's strings");
    check_strings();
    f77_many_dimensions(padded(first, "f77_many_dimensions.nc"));
    t_check(true, "a variable of 102,400 dimensions");
    f77_places(padded(first, "f77_places.nc"));
    t_check(true, "places of any rank and shape");
    f77_requests(padded(first, "f77_attributes.nc"));
    t_check(true, "Fortran posts, cancels and waits for requests");
    f77_reuse(padded(first, "f77_reuse.nc"));
    check_reuse();
    f77_errors(padded(first, "f77_attributes.nc"));
    t_check(true, "every error arrives in Fortran");
    t_check(ncmpi_open(MPI_COMM_WORLD, t_path("f77_attributes.nc"), NC_NOWRITE, MPI_INFO_NULL, &(int){0}) == NC_ENOENT,
            "delete has deleted it");
    return t_finish();
}
