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

END {
    if (failed)
        exit 1
    if (n < 3)
        fail("no options found")
    if (shell == "bash") {
        for (i = 1; i <= n; i++)
            all = all (i > 1 ? " " : "") option[i]
        printf "_%s()\n{\n    COMPREPLY=()\n    if [[ ${COMP_WORDS[COMP_CWORD]} == -* ]]; then\n", tool
        printf "        mapfile -t COMPREPLY < <(compgen -W '%s' -- \"${COMP_WORDS[COMP_CWORD]}\")\n    fi\n}\n", all
        printf "complete -o bashdefault -o default -F _%s %s\n", tool, tool
    } else if (shell == "zsh") {
        printf "#compdef %s\n_arguments -S \\\n", tool
        for (i = 1; i <= n; i++)
            printf "    '*%s%s[%s]%s' \\\n", option[i], joined[i] != "" ? "=" : "", quote(does[i]),
                   argument[i] != "" ? ":" quote(argument[i]) ":_files" : ""
        print "    '*:file:_files'"
    } else if (shell == "fish") {
        for (i = 1; i <= n; i++)
            printf "complete -c %s %s %s%s -d '%s'\n", tool, option[i] ~ /^--/ ? "-l" : "-s",
                   substr(option[i], option[i] ~ /^--/ ? 3 : 2), argument[i] != "" && joined[i] == "" ? " -r" : "",
                   quote(does[i])
    } else
        fail("no shell " shell)
}
