/* dlopen of json-c: programs that are linked with this library need not have it to run. */
#include "host/json.h"

#include <pthread.h>
#include <stdbool.h>

#include "host/library.h"

/* Set once, before other threads see it. */
static pthread_once_t json_once = PTHREAD_ONCE_INIT;
static bool has_json;
static pnc_json_functions json_functions;

#define JSON_FUNCTION(member, name)                \
    {                                              \
        name, offsetof(pnc_json_functions, member) \
    }

static void open_libjson(void)
{
    static const pnc_host_symbol wanted[] = {
        JSON_FUNCTION(tokener_new, "json_tokener_new_ex"),
        JSON_FUNCTION(tokener_set_flags, "json_tokener_set_flags"),
        JSON_FUNCTION(tokener_parse, "json_tokener_parse_ex"),
        JSON_FUNCTION(tokener_get_error, "json_tokener_get_error"),
        JSON_FUNCTION(tokener_get_end, "json_tokener_get_parse_end"),
        JSON_FUNCTION(tokener_free, "json_tokener_free"),
        JSON_FUNCTION(put, "json_object_put"),
        JSON_FUNCTION(get, "json_object_get"),
        JSON_FUNCTION(get_type, "json_object_get_type"),
        JSON_FUNCTION(get_boolean, "json_object_get_boolean"),
        JSON_FUNCTION(get_int64, "json_object_get_int64"),
        JSON_FUNCTION(get_uint64, "json_object_get_uint64"),
        JSON_FUNCTION(get_double, "json_object_get_double"),
        JSON_FUNCTION(get_string, "json_object_get_string"),
        JSON_FUNCTION(get_string_length, "json_object_get_string_len"),
        JSON_FUNCTION(array_get_length, "json_object_array_length"),
        JSON_FUNCTION(array_get, "json_object_array_get_idx"),
        JSON_FUNCTION(array_add, "json_object_array_add"),
        JSON_FUNCTION(object_add, "json_object_object_add"),
        JSON_FUNCTION(object_find, "json_object_object_get_ex"),
        JSON_FUNCTION(object_delete, "json_object_object_del"),
        JSON_FUNCTION(object_get_length, "json_object_object_length"),
        JSON_FUNCTION(begin, "json_object_iter_begin"),
        JSON_FUNCTION(end, "json_object_iter_end"),
        JSON_FUNCTION(next, "json_object_iter_next"),
        JSON_FUNCTION(peek_name, "json_object_iter_peek_name"),
        JSON_FUNCTION(peek_value, "json_object_iter_peek_value"),
        JSON_FUNCTION(is_at, "json_object_iter_equal"),
        JSON_FUNCTION(new_object, "json_object_new_object"),
        JSON_FUNCTION(new_array, "json_object_new_array"),
        JSON_FUNCTION(new_boolean, "json_object_new_boolean"),
        JSON_FUNCTION(new_int64, "json_object_new_int64"),
        JSON_FUNCTION(new_uint64, "json_object_new_uint64"),
        JSON_FUNCTION(new_double, "json_object_new_double_s"),
        JSON_FUNCTION(new_string, "json_object_new_string_len"),
        JSON_FUNCTION(to_text, "json_object_to_json_string_length"),
    };

    has_json = pnc_host_library_load(PNC_LIBJSON, wanted, sizeof wanted / sizeof *wanted, &json_functions);
}

const pnc_json_functions *pnc_host_json_get(void)
{
    pthread_once(&json_once, open_libjson);
    return has_json ? &json_functions : NULL;
}
