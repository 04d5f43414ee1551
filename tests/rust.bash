# Runs tests of Rust: bash rust.bash [arguments of `cargo nextest run` and `cargo test --doc`...]
#
# cargo-nextest runs each test in a process of its own, all of them and each once (.config/nextest.toml); `cargo test --doc`
# the examples in the docs. CARGO names another cargo. The last line is "N passed, N failed, N skipped"; the status is 0 only
# when something ran and nothing failed.
set -uo pipefail

cargo=${CARGO:-cargo}
"$cargo" nextest --version >/dev/null 2>&1 ||
    { echo "rust: there is no cargo-nextest; 'scripts/setup rust' installs it" >&2; exit 2; }
log=$(mktemp) || exit 2
trap 'rm -f "$log"' EXIT

status=0
"$cargo" nextest run --color never "$@" 2>&1 | tee "$log" || status=1
"$cargo" test --doc --no-fail-fast "$@" 2>&1 | tee -a "$log" || status=1

# nextest ends with "Summary [   4.2s] 98/99 tests run: 96 passed (1 slow), 2 failed, 3 skipped", where "98/" is there only
# if it has ended early.
read -r passed failed skipped < <(awk '
    function number_before(word) { return match($0, "[0-9]+ " word) ? substr($0, RSTART) + 0 : 0 }
    /^ +Summary \[/ && match($0, /[0-9]+ tests? run/) {
        run += substr($0, RSTART) + 0; p += number_before("passed"); s += number_before("skipped")
    }
    /^test result:/ {
        run += number_before("passed") + number_before("failed"); p += number_before("passed"); s += number_before("ignored")
    }
    END { print p + 0, run - p, s + 0 }' "$log")
# What was not built, or was killed, has told of no test.
if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then failed=1; fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$status" -eq 0 ] && [ "$passed" -gt 0 ]
