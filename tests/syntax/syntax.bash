# Holds the lexer and the rewriter of crates/syntax against PHP's own lexer and real sources: PHP's tests, PHP libraries and
# applications of the distribution, what is installed, and tests/syntax/probes.
#
#   tests/php-src/run --syntax
#
# What is fetched stays in build/. The last line is "N passed, N failed"; a file is a test.
: "${root:?a part of a runner, which sources it}"

find_php
version=$("$php" -n -r 'echo PHP_MAJOR_VERSION, ".", PHP_MINOR_VERSION;')
readonly applications=(wordpress phpmyadmin phpunit composer) least=20000
readonly store=$root/build/php-applications

say() { echo "syntax: $*" >&2; }

# Packages are unpacked, not installed. The file `for` is written last: where it is, all is there.
if [ "$(cat "$store/for" 2>/dev/null)" != "${applications[*]}" ]; then
    rm -rf "$store"
    mkdir -p "$store/packages" "$store/tree"
    say "fetching ${applications[*]}"
    download() { (cd "$store/packages" && apt-get -qq -o APT::Sandbox::User=root -o Acquire::Retries=2 download "${applications[@]}"); }
    download >/dev/null 2>&1 || { apt-get -qq update >&2; download >&2; }
    for package in "$store/packages"/*.deb; do dpkg-deb -x "$package" "$store/tree"; done
    rm -rf "$store/packages"
    echo "${applications[*]}" >"$store/for"
fi
tests=$(bash "$root/tests/php-src/fetch.bash")

make_work syntax
places=("$tests" "$store/tree" "$root/tests/syntax/probes")
[ ! -d /usr/share/php ] || places+=(/usr/share/php)
find "${places[@]}" -type f '(' -name '*.php' -o -name '*.phpt' ')' | sort >"$work/list"
count=$(wc -l <"$work/list")
[ "$count" -ge $least ] || { echo "only $count files were found, at least $least are wanted"; echo "0 passed, 1 failed"; exit 1; }

"${CARGO:-cargo}" build -q --release -p spindle-syntax --example corpus --manifest-path "$root/Cargo.toml"
corpus=${CARGO_TARGET_DIR:-$root/target}/release/examples/corpus
"$corpus" "$php" "$root/tests/syntax/tokens.php" "$version" 0 <"$work/list" | tee "$work/plain" | grep -v ' passed, ' || :
grep '/tests/syntax/probes/' "$work/list" |
    "$corpus" "$php" "$root/tests/syntax/tokens.php" "$version" 1 | tee "$work/short" | grep -v ' passed, ' || :
read -r passed failed < <(cat "$work/plain" "$work/short" | awk '/^[0-9]+ passed, / { n++; p += $1; f += $3 } END { print p + 0, (n == 2 ? f + 0 : f + 1) }')
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
