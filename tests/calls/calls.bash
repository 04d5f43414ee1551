# Calls functions and methods of all extensions at random from several coroutines that share what they are called with, and
# looks for crashes, hangs and reports of AddressSanitizer.
#
#   extensions/run --calls [--calls N] [--each N] [--seed N] [--asan]
#
# N calls altogether (1,000,000), each process making --each of them (10,000) from a seed of its own, which is printed when
# it fails: `--calls 1 --seed SEED` repeats it, as far as the turns of coroutines are the same. What fails is called once
# more on stock PHP, where callbacks make calls instead of suspending: when that ends in the same function, PHP has the
# error, and it is only counted. --asan: SPINDLE_EXTENSION names a module that is built for AddressSanitizer (the
# suite `asan` builds it); the blocks that it has seen freed are overwritten, so that the use of one after that shows.
#
# The processes run without a network and without privileges where that can be had, in folders that are removed. The last
# line but one has the share of the calls that were refused for their arguments, and that were suspended inside; the last is
# "N passed, N failed, N skipped", of processes.
: "${root:?a part of a runner, which sources it}"

here=$root/tests/calls
calls=1000000 each=10000 seed=1 asan=''

while [ $# -gt 0 ]; do
    case $1 in
        --calls) calls=${2:?--calls needs a number}; shift 2 ;;
        --each) each=${2:?--each needs a number}; shift 2 ;;
        --seed) seed=${2:?--seed needs a number}; shift 2 ;;
        --asan) asan=yes; shift ;;
        -h | --help) usage; exit 0 ;;
        *) die "unknown argument $1" ;;
    esac
done
find_php
find_extension
make_work calls

# Extensions that are there but not enabled. Left out: other runtimes, debuggers and profilers; what changes errors or sends
# something by itself; drawing that another one does too; bindings of libraries that take any argument for a pointer.
modules=()
loaded=$("$php" -m | tr '[:upper:]' '[:lower:]')
folder=$("$php" -r 'echo ini_get("extension_dir");')
first=()
for name in raphf msgpack gd; do # others need these
    [ ! -f "$folder/$name.so" ] || grep -qx "$name" <<<"$loaded" || first+=(-d "extension=$name")
done
for file in "$folder"/*.so; do
    name=$(basename "$file" .so)
    case $name in
        raphf | msgpack | gd) continue ;;
        spindle | opcache | xdebug | excimer | pcov | tideways* | uopz | swoole | luasandbox | wmerrors | pinba | gmagick) continue ;;
        php_mapscript* | gnupg | mailparse | remctl | libvirt-php) continue ;;
    esac
    if grep -qx "$name" <<<"$loaded"; then continue; fi
    if "$php" ${first[@]+"${first[@]}"} -d extension="$name" -r '' 2>&1 | grep -q .; then continue; fi
    modules+=(-d "extension=$name")
done
modules=(${first[@]+"${first[@]}"} ${modules[@]+"${modules[@]}"} -d phar.readonly=0)

preload=()
if [ -n "$asan" ]; then
    runtime=$(realpath "$(gcc -print-file-name=libasan.so)")
    [ -f "$runtime" ] || die "gcc has no libasan.so"
    [[ $(readelf --dyn-syms --wide "$extension") == *__asan_report_load8* ]] || die "$extension is not instrumented"
    gcc -shared -fPIC -O1 -Wall -o "$work/shallow.so" "$root/tests/asan/shallow.c"
    options=detect_leaks=0:verify_asan_link_order=0:detect_stack_use_after_return=0:abort_on_error=1
    options=$options:max_free_fill_size=4096:free_fill_byte=189:hard_rss_limit_mb=6000
    preload=(LD_PRELOAD="$work/shallow.so $runtime" USE_ZEND_ALLOC=0 ASAN_OPTIONS=$options)
fi
# What is called may do all that the user may.
apart=()
if [ "$(id -u)" -eq 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups test -r "$extension" -a -x "$here"; then
    apart=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    chmod 711 "$work"
fi
if ${apart[@]+"${apart[@]}"} unshare -r --net --ipc true 2>/dev/null; then apart+=(unshare -r --net --ipc); fi
ulimit -f 100000 # a file of 100 MB is as good as a larger one
trap '' XFSZ

# One process: worker FOLDER SECONDS [EXTENSION...]
worker() {
    local folder=$1 seconds=$2
    shift 2
    rm -rf "$folder" && mkdir -p "$folder/files" && chmod 777 "$folder" "$folder/files"
    cd "$folder/files" || die "no working folder"
    ${apart[@]+"${apart[@]}"} env HOME="$folder/files" TMPDIR="$folder/files" CALLS_LOG="$folder/log" ${preload[@]+"${preload[@]}"} \
        timeout -s ABRT "$seconds" "$php" "${modules[@]}" -d session.save_path="$folder/files" "$@" \
        "$here/worker.php" "$seed" "$each" "$folder/results" >"$folder/out" 2>"$folder/err" </dev/null
    local status=$?
    cd /
    return $status
}

# The innermost function of PHP's in a report, else the last call that was made.
culprit() {
    local name
    name=$(grep -a -o -m 1 -E ' in zi[fm]_[A-Za-z0-9_]+' "$1/err" | sed -E 's/.* in zi[fm]_//')
    [ -n "$name" ] || name=$(grep -a -o '"message":"[A-Za-z_:\\]*()' "$1/results" 2>/dev/null | sed -E 's/.*:"//')
    [ -n "$name" ] || name=$(grep -a -E '^[0-9]+ \[' "$1/log" | tail -n 1 | sed -E 's/^[0-9]+ \[[0-9]+\] (> )*//; s/\(.*//')
    echo "$name"
}

passed=0 failed=0 skipped=0 tried=0 made=0 refused=0 thrown=0 suspended=0 cancelled=0
echo "with $((${#modules[@]} / 2 - 1)) modules more than PHP has enabled"
while [ "$tried" -lt "$calls" ]; do
    worker "$work/run" 900 -d extension="$extension"
    status=$?
    if [ $status -eq 0 ] && ! grep -a -q 'ERROR: AddressSanitizer' "$work/run/err" && [[ $(<"$work/run/results") =~ ^[0-9] ]]; then
        passed=$((passed + 1))
        read -r a b c d e <"$work/run/results"
        tried=$((tried + a)) made=$((made + a)) refused=$((refused + b)) thrown=$((thrown + c)) suspended=$((suspended + d)) cancelled=$((cancelled + e))
    else
        name=$(culprit "$work/run")
        a=$(grep -a -E '^[0-9]+ \[' "$work/run/log" | tail -n 1 | cut -d' ' -f1)
        tried=$((tried + ${a:-0} + 1))
        worker "$work/stock" 300
        if [ $? -ne 0 ] && [ "$(culprit "$work/stock")" = "$name" ]; then
            skipped=$((skipped + 1))
            echo "seed $seed: status $status in $name; stock PHP ends there, too"
        else
            failed=$((failed + 1))
            echo "seed $seed: status $status after ${a:-0} calls in $name"
            head -c 300 "$work/run/results" | sed 's/^/    /'
            grep -a -E -A12 'panicked|ERROR: AddressSanitizer|not ended|Fatal' "$work/run/err" | cut -c1-160 | head -n 16 | sed 's/^/    /'
        fi
    fi
    seed=$((seed + 1))
done
cd /
share() { awk -v part="$1" -v all="$made" 'BEGIN { printf "%.1f%%", all ? 100 * part / all : 0 }'; }
echo "$made calls in processes that passed: $(share $((made - refused))) entered, $(share $suspended) suspended inside, $(share $thrown) ended by an exception, $cancelled coroutines cancelled"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
