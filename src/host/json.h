/* Functions of json-c, opened at first use and never closed, like the compression libraries. */
#ifndef PNC_HOST_JSON_H
#define PNC_HOST_JSON_H

#include <stddef.h>
#include <stdint.h>

#define PNC_LIBJSON "libjson-c.so.5"

/* json_object_iterator.h */
typedef struct pnc_json_iterator {
    const void *entry;
} pnc_json_iterator;

/* json_types.h */
typedef enum pnc_json_type {
    PNC_JSON_NULL,
    PNC_JSON_BOOLEAN,
    PNC_JSON_DOUBLE,
    PNC_JSON_INT,
    PNC_JSON_OBJECT,
    PNC_JSON_ARRAY,
    PNC_JSON_STRING
} pnc_json_type;

/* Nothing, which is also a null of JSON, is NULL. The prototypes are those of its public headers, with void for types
 * whose contents users do not see. */
typedef struct pnc_json_functions {
    /* json_tokener.h */
    void *(*tokener_new)(int depth);
    void (*tokener_set_flags)(void *tokener, int flags);
    void *(*tokener_parse)(void *tokener, const char *text, int n);
    int (*tokener_get_error)(void *tokener);
    size_t (*tokener_get_end)(void *tokener);
    void (*tokener_free)(void *tokener);
    /* json_object.h */
    int (*put)(void *object); /* free */
    void *(*get)(void *object);
    int (*get_type)(const void *object);
    int (*get_boolean)(const void *object);
    int64_t (*get_int64)(const void *object);   /* the next number of the type for one that it does not have */
    uint64_t (*get_uint64)(const void *object); /* likewise */
    double (*get_double)(const void *object);
    const char *(*get_string)(void *object);
    int (*get_string_length)(const void *object);
    size_t (*array_get_length)(const void *array);
    void *(*array_get)(const void *array, size_t index);
    int (*array_add)(void *array, void *object); /* takes the object, as the next one does; below 0: no memory */
    int (*object_add)(void *object, const char *key, void *value);
    int (*object_find)(const void *object, const char *key, void **value); /* 0: it has no such key */
    void (*object_delete)(void *object, const char *key);
    int (*object_get_length)(const void *object);
    pnc_json_iterator (*begin)(void *object);
    pnc_json_iterator (*end)(const void *object);
    void (*next)(pnc_json_iterator *at);
    const char *(*peek_name)(const pnc_json_iterator *at);
    void *(*peek_value)(const pnc_json_iterator *at);
    int (*is_at)(const pnc_json_iterator *a, const pnc_json_iterator *b);
    void *(*new_object)(void);
    void *(*new_array)(void);
    void *(*new_boolean)(int value);
    void *(*new_int64)(int64_t value);
    void *(*new_uint64)(uint64_t value);
    void *(*new_double)(double value, const char *text);
    void *(*new_string)(const char *text, int n);
    const char *(*to_text)(void *object, int flags, size_t *n);
} pnc_json_functions;

/* The same in each call; NULL if the library is not installed. Any thread may call it. */
const pnc_json_functions *pnc_host_json_get(void);

#endif
