/* Names of the formats, as users and other tools of netCDF write them. */
#ifndef PNC_TOOLS_COMMON_KIND_H
#define PNC_TOOLS_COMMON_KIND_H

/* The format, NC_FORMAT_CLASSIC ..; 0: no such kind. All names that nccopy -k, ncgen -k and the tools of PnetCDF 1.x
 * print or accept. */
int tool_kind_parse(const char *name);

#endif
