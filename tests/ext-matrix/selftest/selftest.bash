# Can the suite fail? Runs selftest/cases with coroutines that block (shim.php) and compares the lines that the suite
# prints with what each case expects at its top, as regular expressions. No server and no extension is needed.
#
#   extensions/run --matrix-itself [--php php]
: "${root:?a part of a runner, which sources it}"

here=$root/tests/ext-matrix/selftest
passed=0 failed=0
for file in "$here"/cases/*.php; do
    name=$(basename "$file" .php)
    mapfile -t expected < <(sed -n 's,^// expect: ,,p' "$file")
    mapfile -t lines < <("$root/tests/extensions/run" --matrix --shim "$here/shim.php" --cases "$here/cases" --only "$name" --discard "$@" 2>/dev/null)
    problem=''
    [ ${#lines[@]} -eq $((${#expected[@]} + 1)) ] || problem="${#expected[@]} lines and a sum were expected"
    for i in "${!expected[@]}"; do
        [[ ${lines[$i]:-} =~ ^${expected[$i]//\\d/[0-9]} ]] || problem="line $((i + 1)) is not like: ${expected[$i]}"
    done
    if [ -z "$problem" ]; then
        passed=$((passed + 1))
        echo "ok    $name"
    else
        failed=$((failed + 1))
        echo "FAIL  $name: $problem"
        printf '        %s\n' "${lines[@]}"
    fi
done
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
