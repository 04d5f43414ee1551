# Random coroutines at all kinds of I/O with real servers, random cancellations, random scheduling, random faults.
#
#   extensions/run --chaos [--minutes M] [--seed S] [--seeds FILE]
#
# First come the frozen seeds (tests/chaos/seeds), then rounds for M minutes (2), from a random seed or from S on. With
# `--minutes 0 --seed S` it is that one round. Each round is a PHP process with a seed and a limit of time. A seed that
# failed is printed with what was wrong; appended to the file of seeds it is run first from then on.
# PHP names another php, SPINDLE_EXTENSION and SPINDLE_FAULTS_MODULE other modules. The last line is
# "N passed, N failed, N skipped"; the exit status is 0 only when nothing failed.
: "${root:?a part of a runner, which sources it}"

here=$root/tests/chaos
minutes=2 seed='' frozen=$here/seeds
readonly limit=300 # seconds, for one round

while [ $# -gt 0 ]; do
    case $1 in
        --minutes) minutes=${2:?--minutes needs a number}; shift 2 ;;
        --seed) seed=${2:?--seed needs a number}; shift 2 ;;
        --seeds) frozen=${2:?--seeds needs a file}; shift 2 ;;
        -h | --help) usage; exit 0 ;;
        *) die "unknown argument $1" ;;
    esac
done
find_php
find_extension
find_faults
work_with_servers chaos
start_all postgres mariadb redis peer
export MATRIX_TMP=$work/tmp

# What a program may not see; each call fails so now and then.
shorts=$(printf '%s:30%%=short,' read write readv writev pread pwrite preadv preadv2 pwritev pwritev2 recv recvfrom send sendto)
agains='preadv2:30%=EAGAIN,pwritev2:30%=EAGAIN,preadv2:1%=EOPNOTSUPP,pwritev2:1%=EOPNOTSUPP,epoll_wait:40%=stale'
interrupts='epoll_wait:30%=EINTR,close:20%=EINTR'

round() { # SEED
    local plan='' with=() status
    case $(($1 % 4)) in
        1) plan=$shorts ;;
        2) plan=$agains ;;
        3) plan=$shorts$agains,$interrupts ;;
    esac
    [ -z "$plan" ] || with=(-d "extension=$faults" -d "async.interpose_exclude=$(basename "$faults")")
    rm -rf "$work/tmp" "$work/report"
    mkdir "$work/tmp"
    MATRIX_ASYNC=1 SPINDLE_FAULTS=$plan SPINDLE_FAULTS_SEED=$1 SPINDLE_FAULTS_IN=$(basename "$extension") SPINDLE_FAULTS_REPORT=$work/report \
        alone "$limit" "$php" -d "extension=$extension" -d "async.seed=$1" ${with[@]+"${with[@]}"} \
        -d display_errors=stderr -d log_errors=0 -d memory_limit=512M "$here/round.php" "$1" \
        </dev/null >"$work/out" 2>"$work/err"
    injected=$(grep -cs '^injected' "$work/report")
    more=$(sed -n 's/^more //p' "$work/report" 2>/dev/null)
    injected=$((${injected:-0} + ${more:-0}))
    if [ "$status" = 0 ] && [ -n "$plan" ] && [ "$injected" = 0 ]; then
        status=none
        echo 'no fault was injected' >"$work/err"
    fi
    if [ "$status" = 0 ]; then
        passed=$((passed + 1)) faults_seen=$((faults_seen + injected))
        return
    fi
    failed=$((failed + 1))
    echo "FAIL  seed $1: $([ "$status" = 137 ] && echo "killed after at most $limit s" || echo "status $status")"
    cat "$work/logs/peer" # has the peer died?
    head -n 12 "$work/err" | cut -c 1-400 | sed 's/^/          | /'
    echo "          tests/extensions/run --chaos --minutes 0 --seed $1"
}

passed=0 failed=0 faults_seen=0
one='' # a single round?
[ "$minutes" != 0 ] || [ -z "$seed" ] || one=1
if [ -z "$one" ]; then
    while read -r number _; do
        case $number in '' | '#'*) ;; *) round "$number" ;; esac
    done <"$frozen"
fi
seed=${seed:-$((RANDOM * 32768 + RANDOM + 1))}
echo "      from seed $seed"
end=$((SECONDS + minutes * 60))
while [ -n "$one" ] || [ "$SECONDS" -lt "$end" ]; do
    round "$seed"
    seed=$((seed + 1))
    [ -z "$one" ] || break
done
[ -z "$one" ] || cat "$work/out"
echo "      $faults_seen faults were injected"
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
