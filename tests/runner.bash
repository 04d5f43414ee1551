# Sourced by the suites' runners in bash: what they begin with.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
here=$(cd "$(dirname "$0")" && pwd -P)

die() { echo "${0##*/}: $*" >&2; exit 2; }

# Prints the comment at the top of the file that calls it.
usage() { sed -n '/^#!/d; /^#/!q; s/^# \{0,1\}//p' "${BASH_SOURCE[1]}"; }

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

# --- suites that compare with stock PHP, with servers ---

# Makes `work` with a folder for what is written and one for logs, where servers can be started, which end with the run, as does
# the process that `alone` runs. A suite may define `ends`, which is called first.
work_with_servers() { # NAME
    without_proxies
    make_work "$1"
    mkdir "$work/tmp" "$work/logs"
    child='' keep=${keep:-0}
    declare -gA wanted=() missing=() unavailable=()
    # shellcheck source=tests/ext-matrix/servers/lib.sh
    . "$root/tests/ext-matrix/servers/lib.sh"
    ends() { :; }
    cleanup() {
        ends
        [ -z "$child" ] || kill -KILL -- "-$child" "$child" 2>/dev/null
        stop_servers
        if [ "$keep" = 1 ]; then echo "${0##*/}: kept $work" >&2; else rm -rf "$work"; fi
    }
}

# Starts these servers, which must be there.
start_all() { # NAME...
    local name
    for name in "$@"; do wanted[$name]=1; done
    start_servers
    for name in "${!missing[@]}"; do die "${missing[$name]}"; done
}

# Runs a command with a limit of time. Its exit status is in `status`; what it leaves behind, in timeout's process group, is killed.
alone() { # SECONDS COMMAND...
    timeout -s KILL "$@" <&0 {peer_input}>&- {dns_input}>&- &
    child=$!
    wait "$child" 2>/dev/null
    status=$?
    kill -KILL -- "-$child" 2>/dev/null
    child=''
}

# What a case says of itself in comments at its top:
#
#   // needs: peer NAME         servers, as scripts/servers names them; one that does not start is a failure
#   // needs: ext:NAME          other extensions; one that is there but not enabled is loaded, else the case is skipped
#   // needs: file:PATH dns     what may be missing, too: a file, a name server of its own
#   // stdin: N                 its standard input has N lines, each 50 ms after the one before was read
#   // ini: NAME=VALUE          for what ini_set() may not set
#   // limit: SECONDS           after which the process is killed, where its suite has no limit of its own
header() { sed -n "s,^// $2: *,,p" "$1"; } # FILE NAME

# Asks PHP which extensions are loaded, and where others are; one more folder of them may be named.
find_extensions() { # [FOLDER]
    loaded=$("$php" -m | tr '[:upper:]' '[:lower:]')
    folders=("$("$php" -r 'echo ini_get("extension_dir");')")
    [ -z "${1-}" ] || folders+=("$1")
}

# Adds to `modules` what loads an extension. Fails for one that is not installed.
load() { # NAME
    local name folder
    name=$(tr '[:upper:]' '[:lower:]' <<<"$1")
    if grep -qx "$name" <<<"$loaded" || { [ "$name" = opcache ] && grep -qx 'zend opcache' <<<"$loaded"; }; then return 0; fi
    for folder in "${folders[@]}"; do
        [ -f "$folder/$name.so" ] || continue
        case $name in
            xdebug | opcache) modules+=(-d "zend_extension=$folder/$name.so") ;;
            *) modules+=(-d "extension=$folder/$name.so") ;;
        esac
        return 0
    done
    return 1
}

# Looks whether all is there that a case needs: sets `modules`, `skip` and `fail`, which say why not.
look_at_needs() { # FILE
    local need
    modules=() skip='' fail=''
    for need in $(header "$1" needs); do
        case $need in
            ext:*) load "${need#ext:}" || skip="PHP has no extension ${need#ext:}" ;;
            file:*) [ -e "${need#file:}" ] || skip="there is no ${need#file:}" ;;
            *)
                [ -z "${missing[$need]:-}" ] || fail=${missing[$need]}
                [ -z "${unavailable[$need]:-}" ] || skip="no $need: ${unavailable[$need]}"
                ;;
        esac
    done
}

# Is a name one of those that are meant? With no glob in `only` each is.
chosen() { # NAME
    local glob
    [ ${#only[@]} -gt 0 ] || return 0
    # shellcheck disable=SC2053  # a glob is what it is
    for glob in "${only[@]}"; do if [[ $1 == $glob ]]; then return 0; fi; done
    return 1
}

# Counts the lines `ok`, `FAIL` and `skip` of a file, and closes.
close_by() { # FILE [LABEL]
    failed=$(grep -c '^FAIL' "$1")
    echo "${2:+$2: }$(grep -c '^ok' "$1") passed, $failed failed, $(grep -c '^skip' "$1") skipped"
    [ "$failed" -eq 0 ]
}
