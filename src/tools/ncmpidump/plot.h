/* A picture of a variable: a map of two dimensions, or a line along one. */
#ifndef PNC_TOOLS_NCMPIDUMP_PLOT_H
#define PNC_TOOLS_NCMPIDUMP_PLOT_H

#include "tools/common/calendar.h"
#include "tools/common/meaning.h"
#include "tools/ncmpidump/dump.h"

enum { PLOT_TEXT = 400 };

/* A dimension that the picture shows, in `n` cells of equal numbers of elements (but the last one). */
typedef struct plot_axis {
    int dim;        /* its number among those of the variable */
    int64_t length; /* elements, `per_cell` of them in a cell */
    int64_t n, per_cell;
    double *edges;    /* n + 1 positions, which ascend or descend: coordinate values, or indices */
    double *middles;  /* of the elements of each cell */
    bool is_reversed; /* larger values are left of, or below, smaller ones */
    bool is_time;     /* edges are times in these units */
    bool is_degrees;  /* so that two such axes have the same scale */
    cal_units units;
    char title[PLOT_TEXT];
} plot_axis;

/* Values of a cell, of its elements that are not missing. */
typedef struct plot_cell {
    int64_t count;
    double sum, least, most;
} plot_cell;

typedef struct plot_picture {
    int naxes; /* 1 or 2 */
    plot_axis x, y;
    bool is_turned;     /* x is the slower dimension, as it is time */
    plot_cell *cells;   /* in rows of x.n */
    double least, most; /* of what is drawn; only with values */
    bool has_values, has_missing;
    char title[PLOT_TEXT], note[PLOT_TEXT], quantity[PLOT_TEXT]; /* name; where it is cut; what the colours mean */
} plot_picture;

/* The picture that the options ask for, from the file. NC_NOERR, or a code after an error message; may be freed in any
 * case. Memory: the coordinates, and the cells. */
int dump_plot_load(const dump_file *file, plot_picture *picture);
void dump_plot_free(plot_picture *picture);

/* Draw as SVG. */
void dump_plot_draw(const plot_picture *picture, FILE *out);

/* Write the picture to the file of -o, or to standard output. On rank 0. */
int dump_plot_write(const dump_file *file);

#endif
