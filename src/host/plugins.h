/* Shared libraries of a folder, one after the other. */
#ifndef PNC_HOST_PLUGINS_H
#define PNC_HOST_PLUGINS_H

#include <stdbool.h>
#include <stddef.h>

/* Open each lib*.so* of the folder, until `accepts` returns true for the handle of one, which stays open then: true. */
bool pnc_host_plugin_find(const char *folder, bool (*accepts)(void *own, void *handle), void *own);
/* The address of a symbol, copied to *out, which may be a pointer to a function; false: the library has none. */
bool pnc_host_symbol_find(void *handle, const char *name, void *out);
/* The path of the library that has a function; `pointer` points to a pointer to it. */
bool pnc_host_symbol_get_library(const void *pointer, char *out, size_t capacity);

#endif
