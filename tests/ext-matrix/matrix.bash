# Runs unmodified PHP clients against real servers, on stock PHP and as coroutines, and compares.
#
#   extensions/run --matrix [--ext build/spindle.so] [--php php] [--only GLOB] [--keep | --discard]
#   extensions/run --matrix --stock                        only the stock runs: are the cases themselves right?
#   extensions/run --matrix --shim FILE --cases DIR   a PHP file instead of the extension, other cases (see selftest)
#
# Each cases/*.php runs in a process of its own, first on stock PHP, then with the extension; every check in it gives a
# line. --only takes a glob on the name of the case files (several may be given). Outputs of a run that failed
# are moved to build/failed/matrix; --keep keeps all temporary files always, --discard none ever.
# The last line is "N passed, N failed, N skipped"; the exit status is 0 only when nothing failed.
#
# What a case wants is in comments at its top: `header` in runner.bash. `$MATRIX_TMP` in an ini setting stands for the scratch folder;
# the standard input has five lines, one every 100 ms from `reads_stdin()` on; the limit is 300 seconds, if there is none.
: "${root:?a part of a runner, which sources it}"

here=$root/tests/ext-matrix
php='' ext='' shim='' cases=$here/cases stock=0 keep=0 discard=0
only=()

while [ $# -gt 0 ]; do
    case $1 in
        --ext) ext=${2:?--ext needs a path}; shift 2 ;;
        --php) php=${2:?--php needs a path}; shift 2 ;;
        --only) only+=("${2:?--only needs a glob}"); shift 2 ;;
        --shim) shim=${2:?--shim needs a path}; shift 2 ;;
        --cases) cases=${2:?--cases needs a directory}; shift 2 ;;
        --stock) stock=1; shift ;;
        --keep) keep=1; shift ;;
        --discard) discard=1; shift ;;
        -h | --help) usage; exit 0 ;;
        *) die "unknown argument $1" ;;
    esac
done
find_php "$php"
if [ -n "$shim" ]; then
    with=(-d auto_prepend_file="$(realpath "$shim")")
elif [ "$stock" = 0 ]; then
    find_extension "$ext"
    with=(-d extension="$extension")
fi

# --- the temporary directory, the servers, and the end of both ---------------------------------------------------------

work_with_servers matrix
failed=0
ends() { [ "$keep" = 1 ] || [ "$failed" -eq 0 ] || [ "$discard" = 1 ] || keep_outputs matrix "$work/logs"/*; }
needs_of() { header "$1" needs | tr '\n' ' '; }

# --- which cases, and what they need -------------------------------------------------------------------------------------

files=()
for file in "$cases"/*.php; do
    if chosen "$(basename "$file" .php)"; then files+=("$file"); fi
done
[ ${#files[@]} -gt 0 ] || die "no case matches"

for file in "${files[@]}"; do
    for need in $(needs_of "$file"); do wanted[$need]=1; done
done

start_servers
find_extensions
export MATRIX_TMP=$work/tmp MATRIX_CANCELS=${MATRIX_CANCELS:-2000}

# --- running ---------------------------------------------------------------------------------------------------------------

# From `reads_stdin()` on.
slow_lines() { local i; until [ -e "$MATRIX_TMP/reads" ] || ! kill -0 $$; do sleep 0.01; done; for i in 1 2 3 4 5; do sleep 0.1; echo "line $i"; done; }

run_mode() { # FILE MODE PHP-ARGUMENTS...   leaves its exit status in $status
    local file=$1 mode=$2 limit input=/dev/null log ini=() setting around=()
    shift 2
    log=$work/logs/$(basename "$file" .php).$mode
    limit=$(header "$file" limit)
    while read -r setting; do ini+=(-d "${setting//\$MATRIX_TMP/$MATRIX_TMP}"); done < <(header "$file" ini)
    case " $(needs_of "$file") " in
        *" dns "*) around=("${with_dns[@]}") ;;&
        *" stdin "*) input=$work/stdin; rm -f "$input" "$MATRIX_TMP/reads"; mkfifo "$input"; slow_lines >"$input" & ;;
    esac
    MATRIX_MODE=$mode MATRIX_OUT=$log.json alone "${limit:-300}" ${around[@]+"${around[@]}"} "$php" "$@" ${ini[@]+"${ini[@]}"} "$file" \
        <"$input" >"$log.out" 2>"$log.err"
}

# A case that is known to fail says why in its header: its failures count as skipped, and a check that passes is one.
pending() {
    local reason
    reason=$(header "$1" pending)
    if [ -z "$reason" ] || [ "$stock" = 1 ]; then cat; else
        sed -E -e "s|^FAIL +([^:]+: [^:]+):.*|skip  \\1: pending: $reason|; t" -e 's/^ok +(.*)/FAIL  \1: passes, though it is marked as pending/'
    fi
}

report() { tee -a "$work/results"; }

: >"$work/results"
for file in "${files[@]}"; do
    case=$(basename "$file" .php)
    look_at_needs "$file"
    if [ -n "$skip" ]; then
        echo "skip  $case: $skip" | report
        continue
    elif [ -n "$fail" ]; then
        echo "FAIL  $case: $fail" | report
        continue
    fi
    run_mode "$file" sync "${modules[@]}"
    sync_status=$status status=none
    [ "$stock" = 1 ] || run_mode "$file" async "${modules[@]}" "${with[@]}"
    "$php" -n "$here/compare.php" "$case" "$work/logs/$case" "$sync_status" "$status" | pending "$file" | report
done

close_by "$work/results"
