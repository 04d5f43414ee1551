#!/bin/sh
# Installs what is in `build` into the PHP at hand, uses it, and removes it again: what the port's shell and commands are asked for
# by scripts/install and scripts/requirements. Run in a root, by `tests/ports/run alpine install`.
#
# The last line is "N passed, N failed, N skipped".
set -u

cd "$(dirname "$0")/../.." || exit 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
version=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"/\1/p' Cargo.toml)
extensions=$(php-config --extension-dir)
scan=$(php -n -r 'echo PHP_CONFIG_FILE_SCAN_DIR;')
passed=0 failed=0

check() { # NAME SCRIPT
    if (set -eu; eval "$2") >"$work/output" 2>&1; then
        passed=$((passed + 1))
        echo "ok    $1"
    else
        failed=$((failed + 1))
        echo "FAIL  $1"
        tail -n 25 "$work/output" | sed 's/^/      /'
    fi
}
# One line, with this in it.
refused() { # TEXT COMMAND...
    text=$1
    shift
    if output=$("$@" 2>&1); then echo "not refused: $output"; return 1; fi
    echo "$output"
    [ "$(echo "$output" | wc -l)" -eq 1 ] && case $output in *"$text"*) ;; *) return 1 ;; esac
}
version_of_php() { php -r 'echo phpversion("spindle");' 2>&1; }
listing() { find /usr/local "$scan" ! -type d | sort; }
listing >"$work/before"

check 'scripts/install' 'scripts/install && [ "$(version_of_php)" = "$version" ] && [ -f "$scan/spindle.ini" ]'
check 'it works' 'php -r '\''$a = spawn fn () => usleep(1000) ?? "it works"; echo Async\await($a), "\n";'\'' | grep -qx "it works"'
check 'spindle --version' '[ "$(spindle --version)" = "spindle $version" ]'
check 'spindle doctor' 'spindle doctor && spindle doctor --json | grep -q "\"works\": true"'
serve() {
    echo '<?php return fn (Async\Http\Request $request) => "Hello, " . $request->query("name", "world") . "!\n";' >"$work/app.php"
    mkfifo "$work/said"
    spindle serve "$work/app.php" --listen 127.0.0.1:0 >"$work/log" 2>"$work/said" &
    server=$!
    exec 3<"$work/said"
    read -r line <&3
    echo "$line"
    address=$(echo "$line" | sed -n 's,.*\(http://[0-9.:]*\).*,\1,p')
    answer=$(wget -q -O - "$address/?name=you")
    kill "$server" && wait "$server" && [ "$answer" = 'Hello, you!' ] && grep -q '"GET /?name=you HTTP/1.1" 200 12' "$work/log"
}
check 'spindle serve' serve
check 'settings are kept' 'echo "; mine" >>"$scan/spindle.ini" && scripts/install && grep -qx "; mine" "$scan/spindle.ini"'
check 'spindle transpile' 'echo "<?php spawn f();" >"$work/a.php" && spindle transpile "$work/a.php" | grep -q Async'
check 'scripts/install uninstall' 'scripts/install uninstall && [ -z "$(version_of_php)" ]'
listing >"$work/after"
check 'nothing is left' 'diff "$work/before" "$work/after"'
check 'DESTDIR' 'DESTDIR=$work/out scripts/install && [ -f "$work/out$extensions/spindle.so" ] && [ -x "$work/out/usr/local/bin/spindle" ] &&
    [ -f "$work/out$scan/spindle.ini" ] && [ -z "$(version_of_php)" ]'
check 'what does not load is an error' 'mkdir -p "$work/broken/build" && cp -R scripts packaging "$work/broken" && cp build/spindle "$work/broken/build" &&
    echo broken >"$work/broken/build/spindle.so" && ! "$work/broken/scripts/install" && "$work/broken/scripts/install" 2>&1 | grep -q "does not load it"
    "$work/broken/scripts/install" uninstall'
check 'no php-config' 'refused "there is no /nowhere/php-config: install" scripts/requirements /nowhere/php-config'
check 'a php-config that is none' 'refused "does not answer as PHP" scripts/requirements /bin/true'
check 'no cargo' 'HOME=/nowhere refused "there is no cargo: install Rust" env CARGO=/nowhere/cargo scripts/requirements'
printf '#!/bin/sh\necho "cargo 1.70.0 (of old)"\n' >"$work/cargo"
chmod 755 "$work/cargo"
check 'an old cargo' 'refused "cargo is that of Rust 1.70.0: Spindle needs Rust" env CARGO="$work/cargo" scripts/requirements'
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
