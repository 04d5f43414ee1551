# Runs each program of tests/syntax/programs twice: as it is, and as the plain PHP that `spindle transpile` makes of it, with
# async.syntax off. Both must end with status 0 and print the same.
#
#   tests/php-src/run --transpiled [PROGRAM...]
#
# The last line is "N passed, N failed". PHP names another php, SPINDLE_EXTENSION another module, SPINDLE another launcher.
: "${root:?a part of a runner, which sources it}"

find_php
find_extension
spindle=$(realpath -m "${SPINDLE:-$root/build/spindle}")
[ -f "$spindle" ] || die "there is no $spindle; 'make build' makes it"
[ $# -gt 0 ] || set -- "$root"/tests/syntax/programs/*.php

make_work transpiled
mkdir "$work/source" "$work/plain"
passed=0 failed=0

# run FOLDER SYNTAX PROGRAM: prints nothing; what it prints, messages among it, goes to FOLDER/PROGRAM.printed.
run() {
    (cd "$work/$1" && timeout -s KILL 30 "$php" -n -d extension="$extension" -d async.syntax="$2" -d display_errors=1 \
        -d log_errors=0 -d html_errors=0 "$3" </dev/null >"$3.printed" 2>&1)
}

is_plain() {
    "$php" -n -l "$1" >/dev/null 2>&1
}

# The reason why a program fails; nothing when it passes.
judge() {
    local name=$1 source=$work/source/$1 plain=$work/plain/$1
    ! is_plain "$source" || { echo "uses no operators: plain PHP reads it"; return; }
    run source 1 "$name" || { echo "ends with status $? as it is:"; cat "$source.printed"; return; }
    [ -s "$source.printed" ] || { echo "prints nothing"; return; }
    (cd "$work/source" && "$spindle" transpile --output-dir ../plain "$name") 2>&1 || { echo "is not transpiled"; return; }
    is_plain "$plain" || { echo "is no plain PHP when it is transpiled:"; "$php" -n -l "$plain" 2>&1 || :; return; }
    run plain 0 "$name" || { echo "ends with status $? when it is transpiled:"; cat "$plain.printed"; return; }
    cmp -s "$source.printed" "$plain.printed" || { echo "prints something else when it is transpiled:"
        diff "$source.printed" "$plain.printed" || :; }
}

for program; do
    name=$(basename "$program")
    cp "$program" "$work/source/$name"
    wrong=$(judge "$name")
    if [ -z "$wrong" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $name $wrong"
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
