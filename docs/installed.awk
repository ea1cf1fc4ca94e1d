# A page as it is installed: links to files that are not installed become their texts.
#   awk -v page=docs/cluster.md -v installed="README.md docs/cluster.md" -f installed.awk docs/cluster.md

# The path of a link in this page, from the top of the source.
function resolve(target,    path) {
    sub(/#.*/, "", target)
    path = page
    if (!sub(/\/[^\/]*$/, "/", path))
        path = ""
    path = path target
    while (sub(/[^\/]*\/\.\.\//, "", path))
        ;
    return path
}

function is_kept(target) {
    return target ~ /^([a-z]+:|#)/ || index(" " installed " ", " " resolve(target) " ") > 0
}

{ text = text $0 "\n" }

END {
    while (match(text, /\[[^][]*\]\([^()]*\)/)) {
        link = substr(text, RSTART, RLENGTH)
        at = index(link, "](")
        printf "%s", substr(text, 1, RSTART - 1)
        printf "%s", is_kept(substr(link, at + 2, length(link) - at - 2)) ? link : substr(link, 2, at - 2)
        text = substr(text, RSTART + RLENGTH)
    }
    printf "%s", text
}
