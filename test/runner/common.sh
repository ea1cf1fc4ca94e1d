# shellcheck shell=sh
# Read by the run-* scripts: the environment of all tests, and how one run of a program is started, watched and
# judged. Environment:
#
#   PNC_SOURCE        top of the source tree
#   PNC_BUILD         top of the build tree (make check starts tests there)
#   PNC_TEST_DATA     folder of real data files; tests skip what needs it when it is absent
#   PNC_TEST_QUICK    1: fewer cases and fewer numbers of ranks; a log has a line "# quick: ..." for what is reduced
#   PNC_TEST_LONG     1: all cases, formats and numbers of ranks, for hours
#   PNC_TEST_LEAVE_OUT  1: skip the tests in test/runner/quick
#   PNC_TEST_TIMEOUT  seconds for one run of a program (120; long: 3600)
#   PNC_TEST_WRAPPER  command before the program, such as valgrind
#   PNC_TEST_YIELD    library to be preloaded into MPI programs under MPICH (test/runner/yield.so of the build); or "no"
#   PNC_TEST_TMP      set for the test: an empty scratch folder
#   PNC_TEST_KEEP     1: keep the scratch folders

if [ $# -lt 1 ]; then
    sed -n '2s/^# /usage: /p' "$0" >&2
    exit 2
fi

PNC_SOURCE=$(cd "$(dirname "$0")/../.." && pwd)
PNC_BUILD=${PNC_BUILD:-$(pwd)}
PNC_TEST_DATA=${PNC_TEST_DATA:-$PNC_SOURCE/../shared/data}
PNC_TEST_QUICK=${PNC_TEST_QUICK:-0}
PNC_TEST_LONG=${PNC_TEST_LONG:-0}
[ "$PNC_TEST_LONG" != 1 ] || PNC_TEST_TIMEOUT=${PNC_TEST_TIMEOUT:-3600}
PNC_TEST_TIMEOUT=${PNC_TEST_TIMEOUT:-120}
export PNC_SOURCE PNC_BUILD PNC_TEST_DATA PNC_TEST_TIMEOUT PNC_TEST_QUICK PNC_TEST_LONG

# A library that was unloaded cannot be named in a suppression: yield.so then keeps it in memory. It before the
# sanitizer's in the list of libraries, where it does no harm. Leaks of what MPI loads and unloads again are known by
# their callers, which only the slow unwinder finds.
ASAN_DEFAULTS=verify_asan_link_order=0:detect_leaks=1:detect_stack_use_after_return=1:fast_unwind_on_malloc=0
ASAN_OPTIONS=${ASAN_OPTIONS:-$ASAN_DEFAULTS}
LSAN_OPTIONS=${LSAN_OPTIONS:-suppressions=$PNC_SOURCE/test/runner/lsan.supp:print_suppressions=0}
UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1:halt_on_error=1}
# A race ends the program with a status of its own, so that it is a failure also where all checks pass.
TSAN_DEFAULTS=suppressions=$PNC_SOURCE/test/runner/tsan.supp:print_suppressions=0:exitcode=66:second_deadlock_stack=1
TSAN_OPTIONS=${TSAN_OPTIONS:-$TSAN_DEFAULTS}
export ASAN_OPTIONS LSAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS

# Open MPI: more ranks than cores, none bound to a core, waiting ranks yield, no warnings about devices that a small
# machine or a container lacks, and mpiexec adds nothing to what a tool says that ends with a status other than 0.
export OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_btl_base_warn_component_unused=0
export OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMPI_MCA_orte_execute_quiet=1
if [ "$(id -u)" = 0 ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi

# UCX, beneath both MPI libraries, would write its warnings to stdout, into the results.
export UCX_LOG_FILE=stderr

# libtool knows the real program behind the script that it makes for programs not yet installed.
execute=
if [ -n "${PNC_TEST_WRAPPER:-}" ] && [ -x "$PNC_BUILD/libtool" ]; then
    execute="$PNC_BUILD/libtool --mode=execute"
fi
if [ -z "${PNC_TEST_YIELD:-}" ]; then
    PNC_TEST_YIELD=$PNC_BUILD/test/runner/yield.so
fi
[ -f "$PNC_TEST_YIELD" ] || PNC_TEST_YIELD=no
export PNC_TEST_YIELD

scratch=$(mktemp -d "${TMPDIR:-/tmp}/pnc-test.XXXXXX") || exit 99

# MPI libraries may give their ranks process groups of their own; all stay in the session that start made.
end_session() {
    if [ -s "$scratch/session" ]; then
        pkill -KILL -s "$(cat "$scratch/session")"
        rm -f "$scratch/session"
    fi
}
clean_up() {
    end_session
    if [ "${PNC_TEST_KEEP:-0}" = 1 ]; then
        echo "# scratch files are kept in $scratch"
    else
        rm -rf "$scratch"
    fi
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# start COMMAND...: in a session of its own, whose id goes to one file, and the exit status to another.
start() {
    # shellcheck disable=SC2016 # the inner shell expands
    setsid -w sh -c 'echo $$ > "$0"; exec "$@"' "$scratch/session" timeout -k 5 "$PNC_TEST_TIMEOUT" "$@" < /dev/null
    echo $? > "$scratch/status"
    end_session
}

started=$(date +%s)
total=0
failures=0
add_failure() {
    total=$((total + 1))
    failures=$((failures + 1))
    echo "not ok $total - $label$1"
}

# How the run ended, which the TAP lines do not show. An exit status of 1, or the number of failures (cmocka),
# belongs to failures that were reported.
judge() {
    read -r status < "$scratch/status"
    read -r seen bad claimed < "$scratch/counts"
    total=$((total + seen))
    failures=$((failures + bad))
    if [ "$status" = 124 ] || [ "$status" = 137 ]; then
        add_failure "hung (stopped after $PNC_TEST_TIMEOUT s)"
    elif [ "$status" != 0 ] && ! { [ "$bad" -gt 0 ] && { [ "$status" = 1 ] || [ "$status" = "$bad" ]; }; }; then
        add_failure "exit status $status"
    elif [ "$claimed" = -1 ] && [ "$must_claim" = yes ]; then
        add_failure "ended before t_finish"
    elif [ "$claimed" != -1 ] && [ "$claimed" != "$seen" ]; then
        add_failure "made $claimed checks, but the lines of only $seen were readable"
    elif [ "$seen" = 0 ]; then
        add_failure "checked nothing"
    fi
}

# run LABEL COMMAND...: start it, put the label before the texts of its results, judge. must_claim=yes: it has to end
# with the line of test/harness.h that counts its checks.
must_claim=no
run() {
    label=${1:+"$1 "}
    PNC_TEST_TMP=$scratch/files$(echo "$1" | tr -c 'a-z0-9\n' '-')
    export PNC_TEST_TMP
    shift
    mkdir "$PNC_TEST_TMP" || exit 99
    # In the background, so that a signal to this script is handled at once.
    start "$@" | awk -v first=$((total + 1)) -v label="${label:+${label% }: }" -v counts="$scratch/counts" \
        -f "$PNC_SOURCE/test/runner/tap.awk" &
    wait $!
    judge
    [ "${PNC_TEST_KEEP:-0}" = 1 ] || rm -rf "$PNC_TEST_TMP"
}

# Seconds of the clock and of the processors. The latter depend little on what else the machine does.
report_times() {
    times > "$scratch/times"
    tr ms '  ' < "$scratch/times" | awk -v elapsed=$(($(date +%s) - started)) '
        { cpu += $1 * 60 + $2 + $3 * 60 + $4 }
        END { printf "# took %d s, and %.1f s of CPU time\n", elapsed, cpu }'
}

finish() {
    report_times
    echo "1..$total"
    [ $failures = 0 ]
    exit
}
