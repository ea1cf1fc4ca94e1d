/* Files with a reader (formats/reader.h), as netCDF-4 files: what is checked of them, and the repair of one whose
 * program died while it wrote the metadata. */
#ifndef PNC_TOOLS_NCVALIDATOR_STORED_H
#define PNC_TOOLS_NCVALIDATOR_STORED_H

#include "tools/ncvalidator/repair.h"
#include "tools/ncvalidator/report.h"

/* Both return NC_NOERR, or a code after an error message. */

/* Check an open file: its metadata, that each chunk is in the file and shares no byte with another one, that all chunks
 * can be read (checksums, filters), and attributes whose meaning netCDF defines. Findings are in the report. */
int validator_stored_examine(tool_file *file, report *r);

/* Complete the metadata of the file at `path`, if a program died while it wrote them. Of a folder, complete what was
 * changed, and delete what belongs to nothing. */
int validator_stored_repair(const pnc_reader_ops *reader, const char *path, const repair_choice *choice,
                            repair_log *log);

#endif
