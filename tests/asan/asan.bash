# The phpt tests with Spindle's Rust and C built for AddressSanitizer.
#
#   tests/run-phpt --asan [arguments of tests/run-phpt...]
#
# It builds the module itself, if SPINDLE_EXTENSION names none that is built for it. PHP itself is as it is: its heap is malloc's here
# (USE_ZEND_ALLOC=0), so the sanitizer sees what becomes of each block, and misuse by instrumented code and in libc's
# functions. What it reports fails the suite, whatever the tests say. Leaks are not looked for: PHP leaves at its end what
# the process's end frees. tests/asan/without lists the tests that cannot run so, with the reasons.
# The last line is "N passed, N failed, N skipped"; the exit status is 0 only when nothing failed.
: "${root:?a part of a runner, which sources it}"

if [ -z "${SPINDLE_EXTENSION-}" ]; then
    # Rust's sanitizers are not stable yet: the variable lets a stable compiler take the option.
    triple=$(rustc -vV | sed -n 's/^host: //p')
    target=${CARGO_TARGET_DIR:-$root/target}/asan
    env RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=address --cfg asan" "CFLAGS_${triple//-/_}=-fsanitize=address -fno-omit-frame-pointer" \
        "${CARGO:-cargo}" build --manifest-path "$root/Cargo.toml" -p spindle-module --target "$triple" --target-dir "$target"
    SPINDLE_EXTENSION=$target/$triple/debug/libspindle.so
fi
find_extension
runtime=$(realpath "$(gcc -print-file-name=libasan.so)")
[ -f "$runtime" ] || die "gcc has no libasan.so"
make_work asan
mkdir "$work/reports"
gcc -shared -fPIC -O1 -Wall -o "$work/shallow.so" "$root/tests/asan/shallow.c"

# A module that is not instrumented, or a runtime that is not there, would find nothing: plant an error, and see it found.
cat >"$work/planted.c" <<'C'
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(void) { char *p = malloc(16); free(p); return write(1, p, 16) < 0; }
C
gcc -o "$work/planted" "$work/planted.c" -Wno-use-after-free
[[ $(readelf --dyn-syms --wide "$extension") == *__asan_report_load8* ]] || die "$extension is not instrumented"

export USE_ZEND_ALLOC=0 SPINDLE_EXTENSION=$extension LD_PRELOAD="$work/shallow.so $runtime"
# The runtime is second to the shim. Stack frames stay where they are: other stacks have no fake ones.
options=detect_leaks=0:verify_asan_link_order=0:detect_stack_use_after_return=0:allocator_may_return_null=1
ASAN_OPTIONS=$options:log_path=$work/planted-report "$work/planted" >/dev/null 2>&1 && die "the planted error was not found"
compgen -G "$work/planted-report.*" >/dev/null || die "the planted error was not reported"
# Other programs that tests and their runner call have the runtime too, and errors of their own (mawk has): only PHP's count.
export ASAN_OPTIONS=$options:log_exe_name=1:log_path=$work/reports/report

mapfile -t without < <(sed -E 's/ *#.*//; /^$/d' "$root/tests/asan/without")
tests=()
if [ $# -eq 0 ]; then
    tests=("$work/phpt")
    cp -r "$root/tests/phpt" "$work/phpt"
    for name in "${without[@]}"; do
        [ -f "$work/phpt/$name" ] || die "tests/asan/without names $name, which does not exist"
        rm "$work/phpt/$name"
    done
fi
status=0
"$root/tests/run-phpt" -j 1 -t 120 "$@" ${tests[@]+"${tests[@]}"} | tee "$work/out" | sed '$d' || status=$?
reports=$(grep -l 'ERROR: AddressSanitizer' "$work"/reports/report.php* 2>/dev/null | wc -l) || :
for report in "$work"/reports/report.php*; do
    [ -f "$report" ] || continue
    grep -q 'ERROR: AddressSanitizer' "$report" || continue
    echo "FAIL  AddressSanitizer:"
    head -n 40 "$report" | sed 's/^/      /'
done
read -r passed _ failed _ skipped _ < <(tail -n 1 "$work/out" | tr -d ,)
echo "$passed passed, $((failed + reports)) failed, $((skipped + (${#tests[@]} ? ${#without[@]} : 0))) skipped"
[ "$status" -eq 0 ] && [ "$reports" -eq 0 ]
