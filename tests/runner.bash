# Sourced by the suites' runners in bash: what they begin with.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
here=$(cd "$(dirname "$0")" && pwd -P)

die() { echo "${0##*/}: $*" >&2; exit 2; }

# Prints the comment at the top of the runner.
usage() { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"; }

# Sets `php`: the PHP that is named, PHP's, or the one on the PATH.
find_php() { # [PHP]
    php=$(command -v "${1:-${PHP:-php}}") || die "there is no ${1:-${PHP:-php}}; 'scripts/setup build' installs PHP"
    php=$(realpath "$php")
}

# Sets `extension`: the file that is named, SPINDLE_EXTENSION's, or what `make build` makes.
find_extension() { # [FILE]
    extension=${1:-${SPINDLE_EXTENSION:-$root/build/spindle.so}}
    [ -f "$extension" ] || die "there is no $extension; 'make build' makes it"
    extension=$(realpath "$extension")
}

# Sets `faults`: SPINDLE_FAULTS_MODULE's file, or what `make build-faults` makes.
find_faults() {
    faults=${SPINDLE_FAULTS_MODULE:-$root/build/faults.so}
    [ -f "$faults" ] || die "there is no $faults; 'make build-faults' makes it"
    faults=$(realpath "$faults")
}

# Requests of the tests are for this machine.
without_proxies() { unset http_proxy https_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY; }

# Makes the folder `work`, which servers that run as users of their own may enter. However the run ends, it ends with
# `cleanup`, which a runner may define anew.
make_work() { # NAME
    work=$(mktemp -d "${TMPDIR:-/tmp}/spindle-$1.XXXXXX") || exit 2
    chmod a+x "$work"
    trap 'trap "" INT TERM HUP; cleanup' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
}
cleanup() { rm -rf "$work"; }

# Keeps what a run that has failed leaves to be read, in a folder of its suite in build/, where the next one replaces it.
keep_outputs() { # SUITE FILE...
    local kept=$root/build/failed/$1
    shift
    rm -rf "$kept"
    mkdir -p "$kept" && mv -t "$kept" "$@" && echo "run: the outputs are in $kept" >&2
}
