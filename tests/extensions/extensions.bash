# Suspends coroutines in the middle of calls of every extension of PHP, two at once, and compares with stock PHP.
#
#   run [--ext build/spindle.so] [--php php] [--modules DIR] [--only GLOB] [--seeds "N..."] [--keep]
#
# Every extension on which there is a verdict has a file in cases/ or a line in `cannot-park`, or it is a failure; of others
# that are installed whatever takes a text is tried (any.php). --modules names one more folder of them. A case runs on stock PHP, two flows one after the other, and then as coroutines, under each of the seeds
# for the order of who is ready. The last line is "N passed, N failed, N skipped"; the exit status is 0 only when nothing failed.
#
# What a case wants is in comments at its top: `header` in runner.bash.
: "${root:?a part of a runner, which sources it}"

php='' ext='' more='' keep=0 seeds='0 1 2'
only=()

while [ $# -gt 0 ]; do
    case $1 in
        --ext) ext=${2:?--ext needs a path}; shift 2 ;;
        --php) php=${2:?--php needs a path}; shift 2 ;;
        --modules) more=${2:?--modules needs a folder}; shift 2 ;;
        --only) only+=("${2:?--only needs a glob}"); shift 2 ;;
        --seeds) seeds=${2:?--seeds needs numbers}; shift 2 ;;
        --keep) keep=1; shift ;;
        -h | --help) usage; exit 0 ;;
        *) die "unknown argument $1" ;;
    esac
done
find_php "$php"
find_extension "$ext"
unset XDEBUG_MODE XDEBUG_CONFIG

# --- the temporary folder, the servers, and the end of both --------------------------------------------------------------

work_with_servers extensions

# --- which extensions, and what their cases need -------------------------------------------------------------------------

find_extensions "$more"
built_in=$("$php" -n -m | sed '/^\[Zend/,$d; /^\[/d; /^$/d' | tr '[:upper:]' '[:lower:]')

reason() { sed -n "s/^$1: *//p" "$here/cannot-park"; }

names=()
while read -r name; do
    chosen "$name" && names+=("$name")
done < <({ echo "$built_in"; find "${folders[@]}" -maxdepth 1 -name '*.so' -printf '%f\n' | sed 's/\.so$//'; } |
    grep -vx spindle | sort -u)
[ ${#names[@]} -gt 0 ] || die "no extension matches"
verdicts=$(find "$root/crates" -path '*/src/*' -name verdicts.rs -exec sed -n '/fn of_module/,/^}/p' {} +)
[ -n "$verdicts" ] || die "verdicts.rs has no function of_module: which extensions is there a verdict on?"

for name in "${names[@]}"; do
    [ -f "$here/cases/$name.php" ] || continue
    for need in $(header "$here/cases/$name.php" needs); do wanted[$need]=1; done
done
start_servers
export EXTENSIONS_TMP=$work/tmp MATRIX_TMP=$work/tmp

# --- running ---------------------------------------------------------------------------------------------------------------

lines() { while sleep 0.05 && echo line; do :; done; }

worker() { # CASE OUT PHP-ARGUMENTS...   leaves its exit status in $status
    local case=$1 out=$2 input=/dev/null ini=() setting
    shift 2
    while read -r setting; do ini+=(-d "$setting"); done < <(header "$case" ini)
    if [[ " $(header "$case" needs | tr '\n' ' ') " == *' stdin '* ]]; then input=$work/stdin; rm -f "$input"; mkfifo "$input"; lines >"$input" 2>/dev/null & fi
    EXTENSIONS_OUT=$out alone 120 "$php" ${modules[@]+"${modules[@]}"} "$@" ${ini[@]+"${ini[@]}"} "$here/worker.php" "$case" "$name" \
        <"$input" >"$out.out" 2>"$out.err"
}

report() { tee -a "$work/results"; }

: >"$work/results"
for case in "$here"/cases/*.php; do
    name=$(basename "$case" .php)
    if ! chosen "$name" || [[ " ${names[*]} " == *" $name "* ]]; then continue; fi
    echo "skip  $name: it is not installed" | report
done
for name in "${names[@]}"; do
    case=$here/cases/$name.php
    if [ ! -f "$case" ]; then
        if [ -n "$(reason "$name")" ]; then continue; fi
        if [[ $verdicts == *"\"$name\""* ]]; then
            echo "FAIL  $name: there is a verdict on it, and neither a case nor a reason in cannot-park" | report
            continue
        fi
        case=$here/any.php
    fi
    look_at_needs "$case"
    [ "$name" != http ] || load raphf
    load "$name"
    if [ -n "$skip" ]; then
        echo "skip  $name: $skip" | report
        continue
    elif [ -n "$fail" ]; then
        echo "FAIL  $name: $fail" | report
        continue
    fi
    worker "$case" "$work/logs/$name.stock"
    if [ "$case" = "$here/any.php" ] && ! grep -qs '^{"check"' "$work/logs/$name.stock"; then
        echo "FAIL  $name: it is installed, there is neither a case nor a reason in cannot-park, and nothing of it takes a text" | report
        continue
    fi
    if ! grep -q '^{"done"' "$work/logs/$name.stock" 2>/dev/null; then
        echo "FAIL  $name: on stock PHP the case ended with status $status: $(tail -n 1 "$work/logs/$name.stock" 2>/dev/null | cut -c1-200) $(grep . "$work/logs/$name.stock.err" | head -n 3)" | report
        continue
    fi
    for seed in $seeds; do
        out=$work/logs/$name.$seed
        for _ in 1 2 3 4 5 6 7 8; do
            rm -f "$out"
            worker "$case" "$out" -d extension="$extension" -d async.seed="$seed"
            "$php" -n "$here/compare.php" "$name" "$work/logs/$name.stock" "$out" "$status" "$seed" >"$work/lines"
            ended=$?
            if [ $ended = 3 ]; then grep '^FAIL' "$work/lines" | tail -n 1 | report; else report <"$work/lines"; break; fi
        done
    done
done

close_by "$work/results" extensions
