/* The end of define mode: compute the layout, and change the file. */
#include "base/memory.h"
#include "format/layout.h"
#include "formats/classic/classic.h"
#include "formats/classic/header_change.h"
#include "formats/classic/headerio.h"

static void announce_space(const pnc_format *f, int64_t bytes, const char *after)
{
    if (bytes > 0)
        f->announce(f->file, "%lld bytes after the %s are reserved for later definitions (hint nc_header_reserve)",
                    (long long)bytes, after);
}

static int compute_layout(pnc_format *f, pnc_layout_hints *hints)
{
    if (f->before == NULL)
        return pnc_format_layout_compute_new(f->model, hints, f->file->error);
    return pnc_format_layout_compute_changed(f->model, f->before, hints, f->file->error);
}

/* The free space of a new file, which later definitions use, is that of its first enddef. */
static void keep_origin(pnc_format *f, int64_t h_minfree, int64_t v_minfree)
{
    pnc_growth_origin *origin = &pnc_classic_state_get(f)->origin;
    bool by_hint = f->hints->layout.h_minfree >= 0;

    pnc_growth_origin_init(origin, f->model);
    origin->by_hint = by_hint;
    if (by_hint || h_minfree > 0)
        origin->h_minfree = h_minfree;
    if (v_minfree > 0)
        origin->v_minfree = v_minfree;
}

/* For a new file no collective step precedes the agreement on the header: it also carries the error of this rank. */
int pnc_classic_define_end(pnc_format *f, pnc_layout_hints *hints, int err)
{
    int64_t h_minfree = hints->h_minfree, v_minfree = hints->v_minfree;
    char *header;
    int64_t n;

    if (err == NC_NOERR)
        err = compute_layout(f, hints);
    PNC_TRY(pnc_classic_header_agree(f, err, &header, &n));
    if (f->before == NULL)
        err = pnc_classic_header_create(f, header, n);
    else
        err = pnc_classic_header_update(f, header, n);
    pnc_memory_free(header);
    PNC_TRY(err);
    if (f->before == NULL)
        keep_origin(f, h_minfree, v_minfree);
    if (h_minfree == PNC_LAYOUT_NOT_GIVEN) {
        announce_space(f, hints->h_minfree, "header");
        announce_space(f, hints->v_minfree, "fixed-size variables");
    }
    pnc_formats_before_free(f);
    pnc_classic_state_get(f)->layout_hints = *hints;
    f->is_new = false;
    return NC_NOERR;
}
