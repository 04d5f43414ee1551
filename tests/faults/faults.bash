# Makes libc calls fail under scenes of plain PHP with real servers, with Spindle and, for comparison, on stock PHP.
#
#   run --faults [--all] [--only GLOB]... [--seed N] [--jobs N] [--log FILE]
#   run --faults --plan 'SCENE:CALL:NUMBER=FAULT' [--seed N]
#                       one scene with one plan (see crates/faults), all that comes of it
#
# Without --all it plays the storms and a few of the calls in turn. --only takes a glob on the name of a scene.
# PHP names another php, SPINDLE_EXTENSION and SPINDLE_FAULTS_MODULE other modules. The last line is
# "N passed, N failed, N skipped"; the exit status is 0 only when nothing failed.
: "${root:?a part of a runner, which sources it}"

here=$root/tests/faults

case ${1-} in -h | --help) usage; exit 0 ;; esac
find_php
find_extension
find_faults
work_with_servers faults
conductor=''
ends() { [ -z "$conductor" ] || kill "$conductor" 2>/dev/null; }

# Only the servers of the scenes that are played.
only=() arguments=("$@")
for i in "${!arguments[@]}"; do
    case ${arguments[i]} in
        --only) only+=("${arguments[i + 1]:?--only needs a glob}") ;;
        --plan) only+=("${arguments[i + 1]%%:*}") ;;
    esac
done
needs=()
for file in "$here"/scenes/*.php; do
    # shellcheck disable=SC2207  # words
    if chosen "$(basename "$file" .php)"; then needs+=($(header "$file" needs)); fi
done
start_all ${needs[@]+"${needs[@]}"}
export FAULTS_PHP=$php FAULTS_EXTENSION=$extension FAULTS_MODULE=$faults FAULTS_WORK=$work
posix=()
"$php" -n -m | grep -qx posix || posix=(-d extension=posix)
"$php" -n ${posix[@]+"${posix[@]}"} "$here/conduct.php" "$@" {peer_input}>&- &
conductor=$!
wait "$conductor"
