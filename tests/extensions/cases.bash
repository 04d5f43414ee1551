# Runs cases in processes of their own, on stock PHP and then with Spindle, and compares.
#
#   run [--ext build/spindle.so] [--php php] [--only GLOB]... [--jobs N] [--keep | --discard] [--modules DIR] [--seeds "N..."]
#   run --matrix ...                            unmodified clients and real servers
#   run --matrix --stock                        only the stock runs: are the cases themselves right?
#   run --matrix --shim FILE --cases DIR        a PHP file instead of the extension, other cases (see selftest)
#
# Without --matrix, two coroutines are in calls of every extension of PHP, under each seed for the order of who is ready. Every
# extension on which there is a verdict has a file in cases/ or a line in `cannot-park`, or it is a failure; of others that are
# installed whatever takes a text is tried (any.php). --modules names one more folder of them.
#
# --only takes a glob on the name of a case. N cases run at a time (2, of --matrix 3); what they tell is printed in their order. Outputs of
# a run that failed are moved to build/failed; --keep keeps all temporary files always, --discard none ever. The last line is
# "N passed, N failed, N skipped"; the exit status is 0 only when nothing failed.
#
# What a case wants is in comments at its top: `header` in runner.bash. `$MATRIX_TMP` in an ini setting stands for its scratch folder.
: "${root:?a part of a runner, which sources it}"

php='' ext='' shim='' more='' stock=0 keep=0 discard=0 jobs=2 seeds='0 1 2'
only=()
cases=$here/cases limit=120 processes=8 # of a case: each continues after the check in which the one before has ended
if [ "$suite" = matrix ]; then cases=$root/tests/ext-matrix/cases limit=300 processes=1 jobs=3 seeds=none; fi

while [ $# -gt 0 ]; do
    case $1 in
        --ext) ext=${2:?--ext needs a path}; shift 2 ;;
        --php) php=${2:?--php needs a path}; shift 2 ;;
        --modules) more=${2:?--modules needs a folder}; shift 2 ;;
        --only) only+=("${2:?--only needs a glob}"); shift 2 ;;
        --jobs) jobs=${2:?--jobs needs a number}; shift 2 ;;
        --seeds) seeds=${2:?--seeds needs numbers}; shift 2 ;;
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
unset XDEBUG_MODE XDEBUG_CONFIG
work_with_servers "$suite"
failed=0
declare -A playing=()
ends() {
    local pid
    for pid in "${!playing[@]}"; do kill "$pid" && wait "$pid"; done 2>/dev/null
    [ "$keep" = 1 ] || [ "$failed" -eq 0 ] || [ "$discard" = 1 ] || keep_outputs "$suite" "$work/logs"/*
}

# --- which cases, and what they need -------------------------------------------------------------------------------------

find_extensions "$more"
names=()
while read -r name; do
    if chosen "$name"; then names+=("$name"); fi
done < <({
    find "$cases" -maxdepth 1 -name '*.php' -printf '%f\n' | sed 's/\.php$//'
    [ "$suite" = matrix ] || find "${folders[@]}" -maxdepth 1 -name '*.so' ! -name spindle.so -printf '%f\n' | sed 's/\.so$//'
    [ "$suite" = matrix ] || "$php" -n -m | sed '/^\[Zend/,$d; /^\[/d; /^$/d' | tr '[:upper:]' '[:lower:]'
} | LC_ALL=C sort -u)
[ ${#names[@]} -gt 0 ] || die "no case matches"
if [ "$suite" != matrix ]; then
    verdicts=$(find "$root/crates" -path '*/src/*' -name verdicts.rs -exec sed -n '/fn of_module/,/^}/p' {} +)
    [ -n "$verdicts" ] || die "verdicts.rs has no function of_module: which extensions is there a verdict on?"
fi
for name in "${names[@]}"; do
    [ -f "$cases/$name.php" ] || continue
    for need in $(header "$cases/$name.php" needs); do wanted[$need]=1; done
done
start_servers

# --- running ---------------------------------------------------------------------------------------------------------------

# Writes lines to a FIFO: each a while after the one before was read. Then it ends, for who reads.
slow_lines() { # FIFO COUNT
    local i
    exec 3<>"$1"
    for ((i = 1; i <= $2; i++)); do
        sleep 0.05
        while read -r -t 0 -u 3; do sleep 0.01; done
        echo "line $i" >&3
    done
    while read -r -t 0 -u 3; do sleep 0.01; done
}

# Runs the case in `file` in a process, and in others after one that has ended in the middle.
work_on() { # OUT ASYNC PHP-ARGUMENTS...
    local out=$1 async=$2 input=/dev/null begun=-1 count n
    shift 2
    : >"$out"
    for ((n = 0; n < processes && begun < $(grep -c '^{"begins"' "$out"); n++)); do
        begun=$(grep -c '^{"begins"' "$out")
        count=$(header "$file" stdin)
        if [ -n "$count" ]; then
            input=$tmp/stdin
            rm -f "$input" && mkfifo "$input"
            slow_lines "$input" "$count" & writer=$!
        fi
        MATRIX_OUT=$out MATRIX_TMP=$tmp MATRIX_ASYNC=$async alone "$limit" ${around[@]+"${around[@]}"} "$php" ${modules[@]+"${modules[@]}"} "$@" ${ini[@]+"${ini[@]}"} \
            "$here/worker.php" "$file" ${of[@]+"${of[@]}"} <"$input" >"$out.out" 2>"$out.err"
        [ -z "$writer" ] || { kill "$writer" 2>/dev/null; writer=; }
        echo "{\"status\":$status}" >>"$out"
        if grep -q '^{"done"' "$out"; then break; fi
    done
}

compare() { # SEED FILE...
    "$php" -n "$here/compare.php" "$name" "$@" || echo "FAIL  $name: its results could not be compared"
}

# Prints what a case tells.
play() { # NAME
    local name=$1 file=$cases/$1.php tmp=$work/tmp/$1 out=$work/logs/$1 of=() around=() ini=() writer='' setting seed
    trap 'kill -KILL -- "-$child" $writer 2>/dev/null; exit 143' TERM
    if [ ! -f "$file" ]; then
        if grep -q "^$name: " "$here/cannot-park"; then return; fi
        if [[ $verdicts == *"\"$name\""* ]]; then
            echo "FAIL  $name: there is a verdict on it, and neither a case nor a reason in cannot-park"
            return
        fi
        file=$here/any.php
    fi
    look_at_needs "$file"
    if [ "$suite" != matrix ]; then
        of=("$name")
        [ "$name" != http ] || load raphf
        load "$name" || skip='it is not installed'
    fi
    if [ -n "$skip" ]; then echo "skip  $name: $skip"; return; fi
    if [ -n "$fail" ]; then echo "FAIL  $name: $fail"; return; fi
    mkdir "$tmp"
    while read -r setting; do ini+=(-d "${setting//\$MATRIX_TMP/$tmp}"); done < <(header "$file" ini)
    if header "$file" needs | grep -qw dns; then around=("${with_dns[@]}"); fi
    limit=$(header "$file" limit | grep . || echo "$limit")

    work_on "$out.stock" ""
    if [ "$file" = "$here/any.php" ] && ! grep -q '^{"name"' "$out.stock"; then
        echo "FAIL  $name: it is installed, there is neither a case nor a reason in cannot-park, and nothing of it takes a text"
        return
    fi
    if [ "$stock" = 1 ]; then compare 0 "$out.stock"; return; fi
    for seed in $seeds; do
        work_on "$out.$seed" 1 "${with[@]}" $([ "$seed" = none ] || echo "-d async.seed=$seed")
        compare "$seed" "$out.stock" "$out.$seed"
    done
}

# Waits until fewer than N cases run, and prints in their order what they tell.
fewer_than() { # N
    local pid i
    while [ ${#playing[@]} -ge "$1" ]; do
        wait -n "${!playing[@]}"
        for pid in "${!playing[@]}"; do
            i=${playing[$pid]}
            if kill -0 "$pid" 2>/dev/null; then continue; fi
            [ -f "$work/told/$i" ] || echo "FAIL  ${names[i]}: its runner has died" >"$work/told/$i"
            unset "playing[$pid]"
        done
        # Up to the first that runs still.
        for ((; told < ${#names[@]}; told++)); do
            [ -f "$work/told/$told" ] || break
            tee -a "$work/results" <"$work/told/$told"
        done
    done
}

mkdir "$work/telling" "$work/told"
told=0
for i in "${!names[@]}"; do
    fewer_than "$jobs"
    { play "${names[i]}" >"$work/telling/$i"; mv "$work/telling/$i" "$work/told/"; } &
    playing[$!]=$i
done
fewer_than 1

close_by "$work/results" "$([ "$suite" = matrix ] || echo "$suite")"
