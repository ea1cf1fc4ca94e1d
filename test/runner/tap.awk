# Copies the TAP lines of one run with new numbers from `first` and with `label` before each text; the rest becomes
# comments. Programs need not number their lines or print a plan: the runner adds both. Writes to the file `counts`: the
# results seen, the failed ones among them, and the number of results that the program itself says it has made (-1: it
# did not come to its end).
BEGIN { next_number = first; failed = 0; claimed = -1 }

function result(status, text)
{
    printf "%s %d - %s%s\n", status, next_number++, label, text
    if (status == "not ok") failed++
    fflush()
}

function text_of(line)
{
    sub(/^(not )?ok *[0-9]* *(- *)?/, "", line)
    return line
}

/^ok([ \t]|$)/ { result("ok", text_of($0)); next }
/^not ok [0-9]+ # SKIP/ { result("ok", text_of($0)); next } # as cmocka 1.1 writes a skipped test
/^not ok([ \t]|$)/ { result("not ok", text_of($0)); next }
/^Bail out!/ { result("not ok", $0); next }
/^[0-9]+\.\.[0-9]+/ {
    # A program that skips everything says so in its plan.
    if ($0 ~ /^1\.\.0/) result("ok", "# SKIP " substr($0, index($0 "#", "#") + 1))
    next
}
/^# finished after [0-9]+ checks$/ { claimed = $4; next }
/^#/ { print; fflush(); next }
{ print "# " $0; fflush() }

END { print next_number - first, failed, claimed > counts }
