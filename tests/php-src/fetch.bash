# Fetches PHP's own tests, those of the PHP that is installed, and prints the folder they are in.
#
#   fetch [--php php]
#
# They come from the distribution's source package, by apt and from the same places as the package itself (see apt.bash).
# Where the very version is not to be had any more, the nearest one of the same minor version is taken, and that is said.
# SPINDLE_PHP_TESTS names a folder with PHP's sources in place of all that: where the source package is not to be had.
# What was fetched stays in build/php-src, a folder for each minor version, until its PHP is updated.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
php=${PHP:-php}
# shellcheck source=tests/apt.bash
. "$root/tests/apt.bash"

say() { echo "fetch: $*" >&2; }
die() { say "$@"; exit 2; }

while [ $# -gt 0 ]; do
    case $1 in
        --php) php=${2:?--php needs a path}; shift 2 ;;
        -h|--help) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"; exit 0 ;;
        *) die "unknown argument $1" ;;
    esac
done
if [ -n "${SPINDLE_PHP_TESTS-}" ]; then
    [ -d "$SPINDLE_PHP_TESTS/Zend/tests" ] || die "SPINDLE_PHP_TESTS is $SPINDLE_PHP_TESTS, and that has no Zend/tests"
    say "PHP's tests are those in $SPINDLE_PHP_TESTS"
    realpath "$SPINDLE_PHP_TESTS"
    exit 0
fi
php=$(realpath "$(command -v "$php")") || die "there is no php; 'scripts/setup build' installs it"

owner=$(dpkg-query -S "$php" 2>/dev/null | cut -d: -f1) && [ -n "$owner" ] ||
    die "$php is not of a package of the distribution, so there is no source package to take its tests from"
# shellcheck disable=SC2016  # these are dpkg's variables
read -r package wanted < <(dpkg-query -W -f '${source:Package} ${source:Version}\n' "$owner")
store=$root/build/php-src/$package

# The file `for` is written last: where it is, all is there.
if [ "$(cat "$store/for" 2>/dev/null)" = "$package $wanted" ]; then
    say "PHP's tests of version $(cat "$store/version") are there"
    echo "$store/tree"
    exit 0
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/spindle-fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

say "asking for the source package of $package $wanted"
own_apt "$work" deb-src

# --- the versions that may do, the best one first --------------------------------------------------------------------

minor=${wanted%%-*}
minor=${minor%.*}
older=() newer=()
while read -r version; do
    [[ $version == "$minor".* ]] || continue
    if [ "$version" = "$wanted" ]; then continue; fi
    if dpkg --compare-versions "$version" lt "$wanted"; then older=("$version" "${older[@]}"); else newer+=("$version"); fi
done < <(apt-cache "${apt[@]}" showsrc --only-source "$package" 2>>"$work/log" | sed -n 's/^Version: //p' | sort -uV)

found=''
for version in "$wanted" "${older[@]}" "${newer[@]}"; do
    if (cd "$work/source" && apt-get "${apt[@]}" source --download-only --only-source "$package=$version") >>"$work/log" 2>&1; then
        found=$version
        break
    fi
done
if [ -z "$found" ]; then
    cat "$work/log" >&2
    die "the source package $package could not be downloaded, in no version $minor: without it PHP's own tests cannot run"
fi
if [ "$found" != "$wanted" ]; then
    say "version $wanted is not to be had, so these are the tests of $found"
fi

# --- unpacking -------------------------------------------------------------------------------------------------------

archives=("$work/source/$package"_*.orig.tar.*[!c])
[ ${#archives[@]} -eq 1 ] && [ -f "${archives[0]}" ] || die "there is not one original archive but: ${archives[*]}"
rm -rf "$store"
mkdir -p "$store/tree"
tar -x --auto-compress -f "${archives[0]}" -C "$store/tree" --strip-components=1 --no-same-owner --wildcards '*/tests/*'
echo "$found" >"$store/version"
echo "$package $wanted" >"$store/for"
say "PHP's tests of version $found are unpacked"
echo "$store/tree"
