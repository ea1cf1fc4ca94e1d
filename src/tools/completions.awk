# The completions of a tool for a shell, made from the text of its option --help:
#   awk -v tool=ncmpidump -v shell=bash -f completions.awk src/tools/ncmpidump/options.c
# A line of this text has options, perhaps the name of their argument, two blanks or more, and what they do. Of a tool
# in Python, each option is a call of add_argument in one line.

function fail(text) {
    print "completions.awk: " tool ": " text > "/dev/stderr"
    failed = 1
    exit 1
}

function quote(text) {
    gsub(/'/, shell == "fish" ? "\\'" : "'\\''", text)
    if (shell == "zsh") {
        gsub(/[][]/, "\\\\&", text)
        gsub(/:/, "\\:", text)
    }
    return text
}

# Tools of two texts have some options in both.
function add(name, takes, equals, described) {
    if (name in known)
        return
    known[name] = 1
    option[++n] = name
    does[n] = described
    argument[n] = takes
    joined[n] = equals
}

/^ *" +-/ {
    sub(/^ *" +/, "")
    sub(/\\n";?$/, "")
    gsub(/\\"/, "\"")
    described = match($0, /   *[^ ]/) ? substr($0, RSTART + RLENGTH - 1) : ""
    left = RSTART > 0 ? substr($0, 1, RSTART - 1) : $0
    count = split(left, words, /, *| +/)
    takes = ""
    for (i = 1; i <= count; i++)
        if (words[i] !~ /^-/)
            takes = takes (takes != "" ? "," : "") words[i]
        else if (words[i] ~ /^--.*[^[]=/)
            takes = substr(words[i], index(words[i], "=") + 1)
    for (i = 1; i <= count; i++) {
        if (words[i] !~ /^-/)
            continue
        equals = words[i] ~ /=/ ? "=" : ""
        sub(/[[=].*/, "", words[i])
        add(words[i], takes, equals, described)
    }
}

# The value of a keyword argument that is a string.
function find_value(keyword) {
    return match($0, keyword "=\"[^\"]*\"") ? substr($0, RSTART + length(keyword) + 2, RLENGTH - length(keyword) - 3) : ""
}

/ArgumentParser\(/ {
    add("-h", "", "", "")
    add("--help", "", "", "")
}

/add_argument\("-/ {
    match($0, /"--?[^"]*"/)
    add(substr($0, RSTART + 1, RLENGTH - 2), find_value("metavar"), "", find_value("help"))
}

# What a shell offers as an argument of option i: "kinds" of files, "variables" of the files on the line, or "".
function get_values(i) {
    if (argument[i] == "kind")
        return "kinds"
    return argument[i] == "var1,..." ? "variables" : ""
}

# Options with these values, with a separator between them.
function list_options(values, separator,    i, all) {
    for (i = 1; i <= n; i++)
        if (get_values(i) == values)
            all = all (all != "" ? separator : "") option[i]
    return all
}

# A command that prints the names of the variables of files.
function list_variables(files) {
    return "ncmpidump -h " files " 2>/dev/null | sed -nE " \
        "'s/^\t(byte|char|short|int|float|double|ubyte|ushort|uint|int64|uint64) ([A-Za-z0-9_.@+-]+)(\\(| ;).*/\\2/p'"
}

function get_zsh_action(i) {
    if (get_values(i) == "kinds")
        return "(" KINDS ")"
    return get_values(i) == "variables" ? "_pnetcdf_variables" : "_files"
}

function get_fish_values(i) {
    if (get_values(i) == "kinds")
        return " -a '" KINDS "'"
    return get_values(i) == "variables" ? " -a '(__fish_append , (__pnetcdf_variables))'" : ""
}

function write_bash_values(    kinds, variables) {
    kinds = list_options("kinds", "|")
    variables = list_options("variables", "|")
    print "    local word=${COMP_WORDS[COMP_CWORD]} file files=()"
    print "    case ${COMP_WORDS[COMP_CWORD - 1]} in"
    if (kinds != "")
        printf "    %s) mapfile -t COMPREPLY < <(compgen -W '%s' -- \"$word\"); return ;;\n", kinds, KINDS
    if (variables != "") {
        printf "    %s)\n        for file in \"${COMP_WORDS[@]:1}\"; do [[ -f $file ]] && files+=(\"$file\"); done\n", variables
        print "        [[ $word == *,* ]] && file=${word%,*}, || file="
        print "        mapfile -t COMPREPLY < <(compgen -P \"$file\" -W \"$(" list_variables("\"${files[@]}\"") \
              ")\" -- \"${word##*,}\")"
        print "        return ;;"
    }
    print "    esac"
}

END {
    KINDS = "classic 64-bit-offset cdf5"
    if (failed)
        exit 1
    if (n < 3)
        fail("no options found")
    if (shell == "bash") {
        for (i = 1; i <= n; i++)
            all = all (i > 1 ? " " : "") option[i]
        printf "_%s()\n{\n    COMPREPLY=()\n", tool
        if (list_options("kinds", "") list_options("variables", "") != "")
            write_bash_values()
        printf "    if [[ ${COMP_WORDS[COMP_CWORD]} == -* ]]; then\n"
        printf "        mapfile -t COMPREPLY < <(compgen -W '%s' -- \"${COMP_WORDS[COMP_CWORD]}\")\n    fi\n}\n", all
        printf "complete -o bashdefault -o default -F _%s %s\n", tool, tool
    } else if (shell == "zsh") {
        printf "#compdef %s\n", tool
        if (list_options("variables", "") != "")
            print "_pnetcdf_variables() { _sequence compadd - ${(f)\"$(" list_variables("${(M)words:#*.nc}") ")\"} }"
        printf "_arguments -S \\\n"
        for (i = 1; i <= n; i++)
            printf "    '*%s%s[%s]%s' \\\n", option[i], joined[i] != "" ? "=" : "", quote(does[i]),
                   argument[i] != "" ? ":" quote(argument[i]) ":" get_zsh_action(i) : ""
        print "    '*:file:_files'"
    } else if (shell == "fish") {
        if (list_options("variables", "") != "")
            print "function __pnetcdf_variables\n    " \
                  list_variables("(commandline -o | string match '*.nc')") "\nend"
        for (i = 1; i <= n; i++)
            printf "complete -c %s %s %s%s%s -d '%s'\n", tool, option[i] ~ /^--/ ? "-l" : "-s",
                   substr(option[i], option[i] ~ /^--/ ? 3 : 2), argument[i] != "" && joined[i] == "" ? " -r" : "",
                   get_fish_values(i), quote(does[i])
    } else
        fail("no shell " shell)
}
