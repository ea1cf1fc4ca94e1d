# Makes the manual pages of all functions, in a folder: awk -v folder=man/man3 -f functions.awk EXAMPLES LINES
# man/functions.m4 generates LINES. EXAMPLES is man/functions.examples: C code for a page or a shape of data access. If
# several functions share a page, the others get a page that only refers to it.

function split_once(text) {
    at = index(text, "|")
    key = substr(text, 1, at - 1)
    return substr(text, at + 1)
}

# Escape a line of text for roff: backslashes, and a dot or quote at its beginning.
function plain(text) {
    gsub(/\\/, "\\e", text)
    return text ~ /^[.']/ ? "\\&" text : text
}

FILENAME == ARGV[1] {
    if (/^@/)
        example_keys = split(substr($0, index($0, " ") + 1), example_key, / /)
    else if (!/^#/)
        for (k = 1; k <= example_keys; k++)
            example[example_key[k]] = example[example_key[k]] $0 "\n"
    next
}

/^@/ { in_text = 0; rest = substr($0, index($0, " ") + 1) }
/^@error / { rest = split_once(rest); meaning[key] = rest; next }
/^@argument / { rest = split_once(rest); argument[key] = rest; next }
/^@type / { rest = split_once(rest); type[++types] = key; c_type[key] = rest; next }
/^@section / { next }
/^@page / {
    rest = split_once(rest)
    page[++pages] = key
    brief[key] = rest
    in_text = 1
    current = key
    next
}
/^@member / {
    rest = split_once(rest)
    members[key]++
    prototype[key, members[key]] = rest
    next
}
in_text && $0 != "" { text[current] = text[current] $0 "\n" }

function name_of(declaration) {
    match(declaration, /[a-zA-Z0-9_<>]+\(/)
    return substr(declaration, RSTART, RLENGTH - 1)
}

# Its arguments, one in each of parts[1..n].
function arguments_of(declaration, parts) {
    sub(/^[^(]*\(/, "", declaration)
    sub(/\)$/, "", declaration)
    return declaration == "void" ? 0 : split(declaration, parts, /, /)
}

# The type suffix of a function, or nothing. Of the forms that differ in it only, the synopsis has one.
function suffix_of(name,    part, n, parts) {
    sub(/_all$/, "", name)
    n = split(name, parts, /_/)
    part = parts[n]
    return part in c_type || part == "ubyte" ? part : ""
}

function print_prototype(declaration, file,    n, k, parts) {
    print ".Ft " (declaration ~ /^const char/ ? "const char *" : "int") > file
    print ".Fo " name_of(declaration) > file
    n = arguments_of(declaration, parts)
    for (k = 1; k <= n; k++)
        print ".Fa \"" parts[k] "\"" > file
    print (n == 0 ? ".Fa void\n" : "") ".Fc" > file
}

function print_synopsis(name, file,    i, declaration, suffix, generic) {
    print ".Sh SYNOPSIS\n.In pnetcdf.h" > file
    for (i = 1; i <= members[name]; i++) {
        declaration = prototype[name, i]
        suffix = suffix_of(name_of(declaration))
        if (suffix == "double") {
            generic = 1
            sub(/_double/, "_<T>", declaration)
            sub(/double/, "T", declaration)
        } else if (suffix != "" && !(suffix == "text" && name ~ /_att_/)) {
            continue
        }
        print_prototype(declaration, file)
    }
    if (!generic)
        return
    print ".Pp\n<T> and T:" > file
    for (i = 1; i <= types; i++)
        if (!(type[i] == "text" && name ~ /_att_/))
            print type[i] ": " c_type[type[i]] (i < types ? ";" : "") > file
    if (name ~ /_att_/)
        print "; ubyte: unsigned char" > file
}

# The arguments of all functions of the page, each once.
function print_arguments(name, file,    i, n, k, parts, word, seen, row, text_of, begun) {
    for (i = 1; i <= members[name]; i++) {
        n = arguments_of(prototype[name, i], parts)
        for (k = 1; k <= n; k++) {
            word = parts[k]
            sub(/\[\]$/, "", word)
            sub(/.*[ *]/, "", word)
            if (word in seen)
                continue
            seen[word] = 1
            row = parts[k] in argument ? parts[k] : word
            text_of = argument[row]
            used[row] = 1
            if (text_of == "") {
                print "functions.awk: no row for argument " parts[k] " of " name " in parameters.m4" | "cat >&2"
                failed = 1
            }
            if (!begun++)
                print ".Sh ARGUMENTS\n.Bl -tag -width Ds" > file
            print ".It Fa " word "\n" plain(text_of) "." > file
        }
    }
    if (begun)
        print ".El" > file
}

# "Errors: NC_A NC_B (remark) and more" becomes a list, and a sentence with the remaining text.
function print_errors(name, list, file,    code, remark) {
    print ".Sh RETURN VALUES" > file
    if (prototype[name, 1] ~ /^const char/) {
        print "A string that is valid until the program ends." > file
        return
    }
    print ".Dv NC_NOERR\n.Pq 0\nor an error code;\n.Xr ncmpi_strerror 3\nreturns its meaning." > file
    print ".Sh ERRORS" > file
    if (list ~ /^ *none\n?$/) {
        print "None." > file
        return
    }
    if (match(list, /NC_E/)) {
        print ".Bl -tag -width Er" > file
        while (match(list, /NC_E[A-Z0-9_]+( \([^)]*\))?/)) {
            code = substr(list, RSTART, RLENGTH)
            list = substr(list, 1, RSTART - 1) substr(list, RSTART + RLENGTH)
            remark = ""
            if (match(code, / \(.*/)) {
                remark = substr(code, RSTART)
                code = substr(code, 1, RSTART - 1)
            }
            print ".It Er " code "\n" plain(meaning[code] remark) "." > file
        }
        print ".El\n.Pp" > file
    }
    gsub(/\n/, " ", list)
    gsub(/^[ ,;.:]+|[ ,;.:]+$/, "", list)
    if (list ~ /[a-z]/)
        print plain(toupper(substr(list, 1, 1)) substr(list, 2)) "." > file
    if (prototype[name, 1] ~ /int ncid/)
        print "Each function with an\n.Fa ncid\nmay also return\n.Er NC_EBADID .\nA function that reads or writes the file may also return" > file
    else
        print "A function that reads or writes the file may also return" > file
    print ".Er NC_EREAD , NC_EWRITE , NC_ENO_SPACE , NC_EQUOTA\nor\n.Er NC_ENOMEM ." > file
}

# The expansion of CALL(arguments) in an example: the collective call of the page, or a post and a wait.
function call_of(name, operation, arguments,    code) {
    if (operation ~ /^m/)
        return name "_float_all(ncid, " arguments ");"
    if (operation !~ /^[ib]/)
        return name "_float_all(ncid, varid, " arguments ");"
    code = name "_float(ncid, varid, " arguments ", &request);\nncmpi_wait_all(ncid, 1, &request, NULL);"
    if (operation == "bput")
        code = "ncmpi_buffer_attach(ncid, 1024);\n" code "\nncmpi_buffer_detach(ncid);"
    return "int request;\n" code
}

# The example of a page: its own, or that of its shape ("vara", and "m_vara" for several variables).
function print_example(name, file,    key, code, operation) {
    key = operation = name
    sub(/^ncmpi_/, "", key)
    sub(/^ncmpi_/, "", operation)
    sub(/_.*/, "", operation)
    if (!(key in example)) {
        sub(/^m[pg][ue]t_/, "m_", key)
        sub(/^[ib]?[pg][ue]t_/, "", key)
    }
    code = example[key]
    if (match(code, /CALL\(.*\)/))
        code = substr(code, 1, RSTART - 1) call_of(name, operation, substr(code, RSTART + 5, RLENGTH - 6)) \
            substr(code, RSTART + RLENGTH)
    if (code !~ ("(^|[^a-z_])" name "(_float(_all)?|_all)?\\(")) {
        print "functions.awk: no example in functions.examples calls " name | "cat >&2"
        failed = 1
    }
    gsub(/\\/, "\\e", code)
    printf ".Sh EXAMPLES\n.Bd -literal -offset indent\n%s.Ed\n", code > file
}

function print_description(name, words, file) {
    sub(/\n$/, "", words)
    sub(/Collective\./, "Collective: all ranks of the dataset's communicator call it, in the same order.", words)
    print ".Sh DESCRIPTION" > file
    print plain(toupper(substr(words, 1, 1)) substr(words, 2)) > file
}

function print_page(name,    file, title, words, at_errors, list) {
    file = folder "/" name ".3"
    words = text[name]
    at_errors = index(words, "Errors:")
    if (at_errors > 0) {
        list = substr(words, at_errors + 7)
        words = substr(words, 1, at_errors - 1)
    }
    title = brief[name]
    if (title == "") {
        title = words
        gsub(/\n/, " ", title)
        sub(/[.:;,(].*/, "", title)
        sub(/ $/, "", title)
        if (title !~ /^(CDL|UTF)/)
            title = tolower(substr(title, 1, 1)) substr(title, 2)
    }
    printf ".\\\" Generated from src/spec.\n.Dd November 21, 2026\n.Dt %s 3\n.Os\n", toupper(name) > file
    printf ".Sh NAME\n.Nm %s\n.Nd %s\n.Sh LIBRARY\n.Ql -lpnetcdf\n", name, plain(title) > file
    print_synopsis(name, file)
    print_description(name, words, file)
    print_arguments(name, file)
    print_errors(name, list, file)
    print_example(name, file)
    print ".Sh SEE ALSO\n.Xr pnetcdf 3 ,\n.Xr pnetcdf_hints 7" > file
    close(file)
}

END {
    for (i = 1; i <= pages; i++) {
        print_page(page[i])
        for (k = 1; k <= members[page[i]]; k++) {
            other = name_of(prototype[page[i], k])
            if (other != page[i]) {
                print ".so man3/" page[i] ".3" > (folder "/" other ".3")
                close(folder "/" other ".3")
            }
        }
    }
    for (row in argument)
        if (!(row in used)) {
            print "functions.awk: parameters.m4 has a row for " row ", which no function has" | "cat >&2"
            failed = 1
        }
    exit failed
}
