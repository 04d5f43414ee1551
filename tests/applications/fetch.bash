# Fetches what the suites of applications need, from the distribution, and installs nothing of it.
#
#   fetch [--again] [source NAME...] [package NAME...]
#
# Of a source package its original archive is unpacked, to build/applications/source/NAME; a package is unpacked to
# build/applications/unpacked, with those packages of PHP code that it depends on. All is by apt (see tests/apt.bash). What
# is there stays until --again. The names that are not to be had, and why, are printed: "NAME: REASON". That is not
# asked again on the same day. A source that the mirror does not give is taken from the folder that the environment
# variable SPINDLE_SOURCES names, if that has it as NAME-VERSION, with the version that the distribution has.
set -euo pipefail

base=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
store=$base/build/applications${SPINDLE_RELEASE:+-$SPINDLE_RELEASE}
# shellcheck source=tests/apt.bash
. "$base/tests/apt.bash"

again='' kind='' sources=() packages=()
for argument in "$@"; do
    case $argument in
        --again) again=1 ;;
        -h | --help) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"; exit 0 ;;
        source | package) kind=$argument ;;
        *)
            case $kind in
                source) sources+=("$argument") ;;
                package) packages+=("$argument") ;;
                *) echo "fetch: unknown argument $argument" >&2; exit 2 ;;
            esac
            ;;
    esac
done

mkdir -p "$store"/{source,unpacked,fetched}
exec 9>"$store/lock"
flock 9 # another run may be fetching
[ -z "$again" ] || rm -rf "$store"/{source,unpacked,fetched}/*
find "$store/fetched" -name '*.missing' -mmin +1440 -delete

# There is a note of each name, written last: its version, or why it is not there.
wanted() { # KIND NAME...
    local kind=$1 name
    shift
    for name in "$@"; do
        [ -f "$store/fetched/$kind-$name" ] || [ -f "$store/fetched/$kind-$name.missing" ] || echo "$name"
    done
}
mapfile -t new_sources < <(wanted source "${sources[@]}")
mapfile -t new_packages < <(wanted package "${packages[@]}")

if [ $((${#new_sources[@]} + ${#new_packages[@]})) -gt 0 ]; then
    work=$(mktemp -d "${TMPDIR:-/tmp}/spindle-fetch.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    echo "fetch: asking for ${new_sources[*]/#/source of } ${new_packages[*]}" >&2
    own_apt "$work" 'deb deb-src'
fi

copy_of() { # NAME: prints where a copy of the version would be that the distribution has
    local version
    version=$(apt-cache "${apt[@]}" showsrc "$1" 2>/dev/null | awk '/^Version:/ { print $2 }' | sort -V | tail -1)
    version=${version#*:} version=${version%-*}
    echo "${SPINDLE_SOURCES:-}/$1-${version%%[+~]*}"
}

for name in "${new_sources[@]}"; do
    (
        cd "$work/source"
        rm -f -- *
        note=$store/fetched/source-$name
        found=''
        # The newest first; where the mirror lacks that, an older one does.
        while read -r package version; do
            if apt-get "${apt[@]}" source --download-only --only-source "$package=$version" >"$work/log.$name" 2>&1; then
                found=$version
                break
            fi
            rm -f -- *
        done < <(apt-cache "${apt[@]}" showsrc "$name" 2>/dev/null |
            awk '/^Package:/ { package = $2 } /^Version:/ { print package, $2 }' | sort -urVk2)
        if [ -n "$found" ]; then
            rm -rf "$store/source/$name"
            mkdir "$store/source/$name"
            tar -x --auto-compress -f ./*.orig.tar.*[!c] -C "$store/source/$name" --strip-components=1 --no-same-owner
            echo "$found" >"$note"
        elif copy=$(copy_of "$name") && [ -d "$copy" ]; then
            rm -rf "$store/source/$name"
            cp -r "$copy" "$store/source/$name"
            echo "${copy##*-}" >"$note"
        elif [ -s "$work/log.$name" ]; then
            echo "the mirror does not give the source package $name: $(grep -m 1 '^E: Failed' "$work/log.$name")" >"$note.missing"
        else
            echo 'the distribution does not have it' >"$note.missing"
        fi
    )
done

for name in "${new_packages[@]}"; do
    (
        cd "$work/source"
        rm -f -- *
        note=$store/fetched/package-$name
        mapfile -t all < <(apt-cache "${apt[@]}" depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks \
            --no-replaces --no-enhances "$name" 2>/dev/null | grep -E "^(php-[a-z0-9-]+|$name)\$" | sort -u)
        mapfile -t all < <(apt-cache "${apt[@]}" show --no-all-versions "${all[@]}" 2>/dev/null |
            awk '/^Package:/ { package = $2 } /^Architecture: all/ { print package }' | sort -u)
        if [[ " ${all[*]} " != *" $name "* ]]; then
            echo 'the distribution does not have it' >"$note.missing"
        elif ! apt-get "${apt[@]}" download "${all[@]}" >"$work/log" 2>&1; then
            echo "not all of it could be downloaded: $(grep -m 1 '^E: ' "$work/log")" >"$note.missing"
        else
            for file in ./*.deb; do dpkg -x "$file" "$store/unpacked"; done
            # Some load others from where they would be installed.
            { grep -rlZ --include=autoload.php "'/usr/share/php/" "$store/unpacked/usr/share/php" || :; } | xargs -0r sed -i "s,'/usr/share/php/,'$store/unpacked/usr/share/php/,g"
            dpkg-deb -f ./"$name"_*.deb Version >"$note"
        fi
    )
done

for name in "${sources[@]}"; do
    if [ -f "$store/fetched/source-$name.missing" ]; then echo "$name: $(<"$store/fetched/source-$name.missing")"; fi
done
for name in "${packages[@]}"; do
    if [ -f "$store/fetched/package-$name.missing" ]; then echo "$name: $(<"$store/fetched/package-$name.missing")"; fi
done
