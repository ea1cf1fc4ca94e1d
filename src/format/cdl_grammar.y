/* The grammar of CDL, and its actions.
 *
 * Words such as types and UNLIMITED are names until the parser knows their role: a variable may have the name "int".
 * Beyond the output of the dumping tools the grammar accepts what people write by hand: several dimensions or variables
 * separated by commas, a type before an attribute, values of several types in one attribute. */
%code requires {
#include <stddef.h>
#include "format/cdl_reader.h"
#define PNC_CDL_YYLTYPE_IS_DECLARED 1
}

%define api.pure full
%define api.prefix {pnc_cdl_yy}
%define api.location.type {pnc_cdl_position}
%define parse.error custom
%locations
%parse-param {pnc_cdl_reader *reader} {void *scanner}
%lex-param {pnc_cdl_reader *reader} {void *scanner}
%initial-action { @$ = reader->next; }

%union {
    char *name;
    pnc_cdl_number number;
    int64_t length;
    char character;
    struct { const char *at; int64_t n; char escaped; } piece; /* at NULL: the byte escaped */
}

%token END 0 "the end of the text"
%token NETCDF "the word \"netcdf\" of a CDL text"
%token <name> TITLE_TEXT
%token DIMENSIONS "\"dimensions:\"" VARIABLES "\"variables:\"" DATA "\"data:\"" OF_NETCDF4
%token <name> NAME "a name"
%token <number> NUMBER "a value"
%token <character> CHARACTER
%token <piece> PIECE
%token QUOTE
%token UNKNOWN
%type <length> length
%destructor { pnc_memory_free($$); } <name>

%code {
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"

/* The position of a construct is that of its first token. */
#define YYLLOC_DEFAULT(at, parts, n) ((at) = (n) > 0 ? YYRHSLOC(parts, 1) : YYRHSLOC(parts, 0))
#define TRY(step) do { if ((step) != NC_NOERR) YYABORT; } while (0) /* frees values on the parser's stack */

static const pnc_cdl_word no_word = {{0, 0}, NULL};

int pnc_cdl_scan_lex(PNC_CDL_YYSTYPE *value, pnc_cdl_position *at, void *scanner);

/* An allocation failure in the scanner returns here, not further: values on the parser's stack must be freed. */
static int scan_token(PNC_CDL_YYSTYPE *value, pnc_cdl_position *at, pnc_cdl_reader *reader, void *scanner)
{
    jmp_buf out_of_memory;

    reader->out_of_memory = &out_of_memory;
    if (setjmp(out_of_memory) == 0)
        return pnc_cdl_scan_lex(value, at, scanner);
    pnc_format_cdl_fail_memory(reader);
    return END;
}

static int yylex(PNC_CDL_YYSTYPE *value, pnc_cdl_position *at, pnc_cdl_reader *reader, void *scanner)
{
    int token = scan_token(value, at, reader, scanner);

    if (token == END) {
        *at = reader->next;
        reader->ended = true;
    }
    reader->begun |= token != NETCDF && token != TITLE_TEXT && token != '{';
    return token;
}
static void pnc_cdl_yyerror(pnc_cdl_position *at, pnc_cdl_reader *reader, void *scanner, const char *message);
}

%%

cdl: opened statements '}' { TRY(pnc_format_cdl_header_end(reader,
                                                           @3)); TRY(pnc_format_cdl_reader_finish(reader, @3)); }
   | opened statements DATA { TRY(pnc_format_cdl_header_end(reader, @3)); if (reader->sink == NULL) YYACCEPT; }
     assignments '}' { TRY(pnc_format_cdl_reader_finish(reader, @6)); } ;

opened: NETCDF title '{' { if (reader->name == NULL)
                               reader->name = pnc_string_copy("");
                           if (reader->name == NULL)
                               TRY(pnc_format_cdl_fail_memory(reader)); } ;
title: %empty
     | title TITLE_TEXT { if (reader->name == NULL) reader->name = $2; else pnc_memory_free($2); } ;

statements: %empty | statements statement ;

statement: DIMENSIONS { reader->section = PNC_CDL_DIMENSIONS; }
    | VARIABLES { reader->section = PNC_CDL_VARIABLES; }
    | OF_NETCDF4 { TRY(pnc_format_cdl_fail(reader, @1, NC_ENOTNC, "%s is netCDF-4: %s only dimensions, variables and "
                                           "attributes", reader->shown, reader->netcdf4 != 0 ?
                                           "of such files this reader has" : "the classic formats have")); }
    | dimensions ';'
    | variables ';'
    | attribute ';' { TRY(pnc_format_cdl_att_end(reader)); }
    | attribute values ';' { TRY(pnc_format_cdl_att_end(reader)); } ;

dimensions: dimension | dimensions ',' dimension ;
dimension: NAME '=' length { int err = pnc_format_cdl_dim_add(reader, @1, $1, $3); pnc_memory_free($1); TRY(err); } ;
length: NUMBER { TRY(pnc_format_cdl_dim_read_length(reader, @1, &$1, &$$)); }
    | NAME { int err = strcasecmp($1, "UNLIMITED") == 0 ? NC_NOERR :
                       pnc_format_cdl_fail_expected(reader, @1, "a length or UNLIMITED");
             pnc_memory_free($1);
             $$ = NC_UNLIMITED;
             TRY(err); } ;

variables: NAME NAME { TRY(pnc_format_cdl_vars_begin(reader, @1, $1)); }
           shape { int err = pnc_format_cdl_var_add(reader, @2,
                                                    $2); pnc_memory_free($1); pnc_memory_free($2); TRY(err); }
    | variables ',' NAME shape { int err = pnc_format_cdl_var_add(reader, @3, $3); pnc_memory_free($3); TRY(err); } ;
shape: %empty | '(' dimids ')' ;
dimids: dimid | dimids ',' dimid ;
dimid: NAME { int err = pnc_format_cdl_dimid_add(reader, @1, $1); pnc_memory_free($1); TRY(err); } ;

attribute: ':' NAME '=' { TRY(pnc_format_cdl_att_begin(reader, no_word, no_word, @2, $2)); }
    | NAME ':' NAME '=' { int err = pnc_format_cdl_att_begin(reader, no_word, (pnc_cdl_word){@1, $1}, @3, $3);
                          pnc_memory_free($1); TRY(err); }
    | NAME NAME ':' NAME '=' { int err = pnc_format_cdl_att_begin(reader, (pnc_cdl_word){@1, $1},
                                                                  (pnc_cdl_word){@2, $2}, @4, $4);
                               pnc_memory_free($1); pnc_memory_free($2); TRY(err); } ;

assignments: %empty | assignments assignment ;
assignment: NAME '=' { TRY(pnc_format_cdl_data_begin(reader, @1, $1)); }
            values ';' { pnc_memory_free($1); TRY(pnc_format_cdl_data_end(reader, @5)); } ;

values: value | values ',' value ;
value: NUMBER { TRY(pnc_format_cdl_number_put(reader, @1, &$1)); }
    | NAME { int err = pnc_format_cdl_name_put(reader, @1, $1); pnc_memory_free($1); TRY(err); }
    | CHARACTER { TRY(pnc_format_cdl_character_put(reader, @1, $1)); }
    | QUOTE { TRY(pnc_format_cdl_text_begin(reader, @1)); } pieces QUOTE { TRY(pnc_format_cdl_text_end(reader, @1)); } ;
pieces: %empty
    | pieces PIECE { TRY(pnc_format_cdl_text_put(reader, @2, $2.at != NULL ? $2.at : &$2.escaped, $2.n)); } ;

%%

/* Messages say "a value" for any token that begins a value, and do not list all tokens that begin a definition. */
static void describe_expected(const yypcontext_t *context, char *out, size_t capacity)
{
    yysymbol_kind_t kinds[8];
    bool value = false;
    size_t used = 0;
    int n = yypcontext_expected_tokens(context, kinds, 8);

    for (int i = 0; i < n; i++)
        value |= kinds[i] == YYSYMBOL_NUMBER;
    snprintf(out, capacity, "a definition or '}'");
    for (int i = 0; n < 6 && i < n && used < capacity; i++) {
        yysymbol_kind_t kind = kinds[i];
        if (kind != YYSYMBOL_TITLE_TEXT && kind != YYSYMBOL_CHARACTER && kind != YYSYMBOL_QUOTE &&
            (kind != YYSYMBOL_NAME || !value))
            used += (size_t)snprintf(out + used, capacity - used, "%s%s", used > 0 ? " or " : "", yysymbol_name(kind));
    }
}

static int yyreport_syntax_error(const yypcontext_t *context, pnc_cdl_reader *reader, void *scanner)
{
    char expected[200];

    (void)scanner;
    if (reader->code != NC_NOERR)
        return 0; /* the scanner has set the error, and ended */
    describe_expected(context, expected, sizeof expected);
    pnc_format_cdl_fail_expected(reader, *yypcontext_location(context), expected);
    return 0;
}

/* Also called by bison itself if its stack cannot grow. */
static void pnc_cdl_yyerror(pnc_cdl_position *at, pnc_cdl_reader *reader, void *scanner, const char *message)
{
    (void)at;
    (void)scanner;
    (void)message;
    pnc_format_cdl_fail_memory(reader);
}
