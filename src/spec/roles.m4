m4_dnl The roles of parameters. A role determines the type in C, the declaration in Fortran, and the conversion between
m4_dnl both.
m4_dnl
m4_dnl ROLE(name, C type, passing, meaning). Passing, in or out of the function:
m4_dnl   int_in, int_out        an integer, unchanged
m4_dnl   id_in, id_out          counts from 1 in Fortran, from 0 in C
m4_dnl   index_in               the same, of kind MPI_OFFSET_KIND
m4_dnl   offset_in, offset_out  an integer of kind MPI_OFFSET_KIND, unchanged
m4_dnl   text_in, text_out      a string; without its trailing blanks in C, filled with blanks in Fortran
m4_dnl   chars_in, chars_out    the characters of an attribute; another argument has their number
m4_dnl   buffer_in, buffer_out  memory of any type, unchanged
m4_dnl   strings_in, strings_out  memory of strings of any length, unchanged
m4_dnl   indices_in             an array with an index for each dimension: from 1, fastest first in Fortran
m4_dnl   sizes_in, sizes_out    an array with a size for each dimension: fastest first in Fortran
m4_dnl   blocks_in, block_sizes_in  num such arrays: an array of two dimensions in Fortran
m4_dnl   element_out            an integer; Fortran may pass an array, whose first element receives it
m4_dnl   list_in, list          an array of integers, converted by hand-written functions
m4_dnl   comm_in, info_in, info_out, type_in  an MPI handle, which is an integer in Fortran
m4_dnl   c_only                 functions with such a parameter exist in C only
m4_include([check.m4])m4_dnl
m4_divert(-1)
m4_define([ROLES], [
ROLE([ncid],            [int],           [int_in],     [id of a dataset])
ROLE([ncid_out],        [int *],         [int_out],    [receives the id of a dataset])
ROLE([ncids_out],       [int *],         [list],       [receives ids of datasets])
ROLE([varid],           [int],           [id_in],      [id of a variable])
ROLE([varid_out],       [int *],         [id_out],     [receives the id of a variable])
ROLE([dimid],           [int],           [id_in],      [id of a dimension])
ROLE([dimid_out],       [int *],         [id_out],     [receives the id of a dimension])
ROLE([dimids],          [const int *],   [list_in],    [ids of dimensions, slowest first in C, fastest first in Fortran])
ROLE([dimids_out],      [int *],         [list],       [receives such a list])
ROLE([attnum],          [int],           [id_in],      [number of an attribute])
ROLE([grpid],           [int],           [id_in],      [number of a group])
ROLE([attnum_out],      [int *],         [id_out],     [receives the number of an attribute])
ROLE([recno],           [MPI_Offset],    [index_in],   [number of a record])
ROLE([count],           [int],           [int_in],     [how many])
ROLE([count_out],       [int *],         [int_out],    [receives how many])
ROLE([flags],           [int],           [int_in],     [a mode, a format or a switch])
ROLE([flags_out],       [int *],         [int_out],    [receives such a value])
ROLE([code],            [int],           [int_in],     [an error code])
ROLE([code_out],        [int *],         [int_out],    [receives an error code])
ROLE([type],            [nc_type],       [int_in],     [an external type])
ROLE([type_out],        [nc_type *],     [int_out],    [receives an external type])
ROLE([length],          [MPI_Offset],    [offset_in],  [number of elements])
ROLE([length_out],      [MPI_Offset *],  [offset_out], [receives a number of elements])
ROLE([offset],          [MPI_Offset],    [offset_in],  [number of bytes])
ROLE([offset_out],      [MPI_Offset *],  [offset_out], [receives a number of bytes])
ROLE([path],            [const char *],  [text_in],    [path of a file])
ROLE([path_out],        [char *],        [text_out],   [receives a path])
ROLE([name],            [const char *],  [text_in],    [name of a dimension, variable or attribute])
ROLE([name_out],        [char *],        [text_out],   [receives such a name, of at most NC_MAX_NAME characters])
ROLE([message_out],     [char *],        [text_out],   [receives a text of less than NC_MAX_MESSAGE characters])
ROLE([characters],      [const char *],  [chars_in],   [value of a text attribute])
ROLE([characters_out],  [char *],        [chars_out],  [receives the value of a text attribute])
ROLE([texts],           [const char *const *], [c_only], [strings of any length])
ROLE([texts_out],       [char **],       [c_only],     [receives such strings])
ROLE([values],          [const void *],  [buffer_in],  [values in memory])
ROLE([values_out],      [void *],        [buffer_out], [receives values])
ROLE([comm],            [MPI_Comm],      [comm_in],    [a communicator])
ROLE([info],            [MPI_Info],      [info_in],    [hints])
ROLE([info_out],        [MPI_Info *],    [info_out],   [receives a new info object])
ROLE([datatype],        [MPI_Datatype],  [type_in],    [an MPI datatype])
ROLE([requests],        [int *],         [list],       [ids of requests; those completed become NC_REQ_NULL])
ROLE([statuses_out],    [int *],         [list],       [receives an error code for each request])
ROLE([memory],          [const VALUE_TYPE *], [buffer_in],  [values of a type that a family defines as VALUE_TYPE])
ROLE([memory_out],      [VALUE_TYPE *],  [buffer_out], [receives such values])
ROLE([strings],         [const VALUE_TYPE *], [strings_in], [characters])
ROLE([strings_out],     [VALUE_TYPE *],  [strings_out], [receives characters])
ROLE([start],           [const MPI_Offset *], [indices_in], [index of the first element])
ROLE([counts],          [const MPI_Offset *], [sizes_in], [number of elements along each dimension])
ROLE([stride],          [const MPI_Offset *], [sizes_in], [distance between elements of the variable])
ROLE([imap],            [const MPI_Offset *], [sizes_in], [distance between elements in memory])
ROLE([chunk_lengths],   [const MPI_Offset *], [sizes_in], [elements of a chunk along each dimension])
ROLE([chunk_lengths_out], [MPI_Offset *], [sizes_out], [receives such lengths])
ROLE([chunk_dims],      [int *],         [list],       [elements of a chunk along each dimension])
ROLE([chunk_dims_out],  [int *],         [list],       [receives such lengths])
ROLE([filter],          [unsigned int],  [int_in],     [id of a filter])
ROLE([words],           [const unsigned int *], [buffer_in], [parameters of a filter])
ROLE([words_out],       [unsigned int *], [buffer_out], [receives such parameters, or ids of filters])
ROLE([block_starts],    [MPI_Offset *const *], [blocks_in], [start of each block])
ROLE([block_counts],    [MPI_Offset *const *], [block_sizes_in], [counts of each block])
ROLE([request_out],     [int *],         [element_out], [receives the id of a request])
ROLE([varids_each],     [int *],         [c_only],     [ids of several variables, which have the arguments below])
ROLE([start_each],      [MPI_Offset *const *], [c_only], [start of each variable])
ROLE([counts_each],     [MPI_Offset *const *], [c_only], [counts of each variable])
ROLE([stride_each],     [MPI_Offset *const *], [c_only], [stride of each variable])
ROLE([imap_each],       [MPI_Offset *const *], [c_only], [imap of each variable])
ROLE([memory_each],     [VALUE_TYPE *const *], [c_only], [memory of each variable])
ROLE([memory_each_out], [VALUE_TYPE *ARRAY], [c_only],  [memory of each variable])
ROLE([lengths_each],    [const MPI_Offset *], [c_only], [number of elements for each variable])
ROLE([datatypes_each],  [const MPI_Datatype *], [c_only], [MPI datatype for each variable])
ROLE([datatypes_each_put], [const MPI_Datatype ARRAY], [c_only], [MPI datatype for each variable])
ROLE([hid],             [int],           [c_only],     [id of a CDL header])
ROLE([hid_out],         [int *],         [c_only],     [receives the id of a CDL header])
ROLE([name_ref],        [char **],       [c_only],     [receives the address of a name that the library keeps])
ROLE([dimids_ref],      [int **],        [c_only],     [receives the address of ids that the library keeps])
ROLE([values_ref],      [void **],       [c_only],     [receives the address of values that the library keeps])
])

m4_define([PASSINGS], [m4_translit([ int_in int_out id_in id_out index_in offset_in offset_out text_in text_out chars_in chars_out
buffer_in buffer_out strings_in strings_out indices_in sizes_in sizes_out blocks_in block_sizes_in element_out
list_in list comm_in info_in info_out type_in c_only ], [
], [ ])])
m4_define([ROLE], [CHECK_COUNT([roles.m4], [$1], $#, 4, 4)m4_dnl
CHECK_NAME([roles.m4], [$1], [$1])m4_dnl
m4_ifelse(m4_index(PASSINGS, [ $3 ]), -1, [REFUSE([roles.m4], [$1], ["$3" is not a way of passing])])m4_dnl
m4_define([C_TYPE_OF_$1], [$2])m4_define([PASSING_OF_$1], [$3])])
ROLES
m4_define([C_TYPE], [m4_indir([C_TYPE_OF_$1])])
m4_define([PASSING], [m4_indir([PASSING_OF_$1])])

m4_dnl A parameter in a prototype, for EACH below. The word ARRAY in a C type stands for brackets behind the name.
m4_define([DECLARED], [m4_ifelse(m4_index(m4_defn([C_TYPE_OF_$1]), [ARRAY]), -1,
    [m4_patsubst(C_TYPE([$1])[ $2], [\* ], [*])],
    [m4_patsubst(C_TYPE([$1]), [ARRAY], [$2[[]]])])])

m4_dnl P(role, name in C, name in Fortran if it differs): a parameter; a list of them may have line breaks between them.
m4_dnl EACH(macro, separator, parameters) expands macro(role, name in C, name in Fortran) for each, with the separator
m4_dnl between them.
m4_define([EACH], [m4_pushdef([_each], [$1])m4_pushdef([_separator], [$2])m4_pushdef([_first], [yes])m4_dnl
m4_pushdef([P], m4_defn([P_OF_EACH]))LIST_OF_P([$3])[]m4_dnl
m4_popdef([P], [_first], [_separator], [_each])])
m4_define([P_OF_EACH], [m4_ifelse(_first, [yes], [m4_define([_first], [no])], [m4_defn([_separator])])m4_dnl
m4_indir(m4_defn([_each]), [$1], [$2], m4_ifelse([$3], [], [[$2]], [[$3]]))[]])
m4_define([LIST_OF_P], [m4_translit([$1], [
])])

m4_dnl CHECK_PARAMETERS(file, row, parameters): accepts only P(..), each with a role and a name.
m4_define([CHECK_PARAMETERS], [m4_pushdef([_file], [$1])m4_pushdef([_row], [$2])m4_pushdef([P], m4_defn([P_CHECKED]))m4_dnl
CHECK_REST([$1], [$2], WITHOUT_BLANKS(LIST_OF_P([$3])))m4_popdef([P], [_row], [_file])])
m4_define([P_CHECKED], [CHECK_COUNT(_file, _row, $#, 2, 3)CHECK_NAME(_file, _row, [$2])m4_dnl
m4_ifelse([$3], [], [], [CHECK_NAME(_file, _row, [$3])])m4_dnl
m4_ifdef([PASSING_OF_$1], [], [REFUSE(_file, _row, [parameter "$2" has the role "$1", which roles.m4 does not have])])])
m4_divert[]m4_dnl
