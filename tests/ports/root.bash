# Makes a root: a folder with another release of Debian, Debian for another processor, or Alpine, and a PHP in it.
#
#   tests/ports/run --root PORT              makes the root of PORT (a line of `table`) where it is not there yet
#   tests/ports/run --root PORT COMMAND...   and runs a command in it: bash without one argument more
#
# It needs root, debootstrap, and for another processor qemu-user-static. Packages come from where the machine's own come
# from; `alpine.bash` says what Alpine takes. Roots lie in SPINDLE_ROOTS (/tmp/roots); they are kept, and used again. A command
# runs in mount and process namespaces of its own, which end with it: this tree and Rust's folders are there under their own
# names, cargo builds into the root's folder /target, and the tree's folder build is the root's /target/build.
: "${root:?a part of a runner, which sources it}"

port=$1
shift
read -r _ version processor release experimental < <(grep -E "^$port " "$here/table") || die "there is no port $port: see $here/table"
roots=${SPINDLE_ROOTS:-/tmp/roots}
folder=$roots/$port
[ "$(id -u)" -eq 0 ] || die "that needs root, for debootstrap and chroot"

# --- making it -------------------------------------------------------------------------------------------------------

native() { [ "$processor" = "$(dpkg --print-architecture)" ]; }

# What Spindle is built with, what its tests compile with, and modules of PHP that they use.
packages="gcc libc6-dev make pkg-config ca-certificates procps strace openssl"
modules="cli dev curl sqlite3 mbstring xml pgsql mysql"
# A cross build takes the headers out of the root, and needs no compiler in it; nor do servers answer in time in an emulator.
! native || packages+=" clang xz-utils postgresql mariadb-server-core mariadb-client-core redis-tools python3-pyftpdlib python3-openssl"
# Modules which the release may not have for this version yet.
wanted="redis"

make_root() {
    command -v debootstrap >/dev/null || die "there is no debootstrap: apt-get install debootstrap"
    local mirror keyring=/usr/share/keyrings/debian-archive-keyring.gpg options=(--variant=minbase) stage=$folder.new
    # shellcheck disable=SC2016  # these are apt's variables
    mirror=$(apt-get indextargets --format '$(LABEL) $(REPO_URI)' | awk '$1 == "Debian" { print $2; exit }')
    [ -n "$mirror" ] || die "this machine's apt has no archive of Debian"
    native || options+=("--arch=$processor" --foreign)
    rm -rf "$stage"
    mkdir -p "$roots"
    debootstrap "${options[@]}" --keyring="$keyring" "$release" "$stage" "$mirror" >&2
    native || chroot "$stage" /debootstrap/debootstrap --second-stage >&2
    # Nothing starts a service there; and the clock of a machine may be past the time for which an archive vouches.
    printf '#!/bin/sh\nexit 101\n' >"$stage/usr/sbin/policy-rc.d"
    chmod 755 "$stage/usr/sbin/policy-rc.d"
    echo 'Acquire::Check-Valid-Until "false";' >"$stage/etc/apt/apt.conf.d/90spindle"
    # The release's security updates: its archive may have the sources of no older version any more.
    local security
    # shellcheck disable=SC2016
    security=$(apt-get indextargets --format '$(LABEL) $(REPO_URI)' | awk '$1 == "Debian-Security" { print $2; exit }')
    [ "$release" = sid ] || [ -z "$security" ] || echo "deb $security $release-security main" >"$stage/etc/apt/sources.list.d/security.list"
    # Only what the release itself has not is taken from there.
    [ "$experimental" = - ] || echo "deb $mirror $experimental main" >"$stage/etc/apt/sources.list.d/$experimental.list"
    mkdir -p "$stage/etc/postgresql-common/createcluster.d"
    echo 'create_main_cluster = false' >"$stage/etc/postgresql-common/createcluster.d/spindle.conf"
    install_in "$stage"
    mv "$stage" "$folder"
}

# A root that was made before something was added here gets it, too.
list="$packages; $modules; $wanted"
install_in() { # ROOT
    local module php=() apt=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o Dpkg::Use-Pty=0 --no-install-recommends)
    for module in $modules; do php+=("php$version-$module"); done
    enter "$1" "${apt[@]}" update >&2
    # shellcheck disable=SC2086  # words
    enter "$1" "${apt[@]}" install $packages >&2
    enter "$1" "${apt[@]}" install "${php[@]}" >&2
    for module in $wanted; do
        enter "$1" "${apt[@]}" install "php$version-$module" >&2 || echo "root: $release has no php$version-$module" >&2
    done
    echo "$list" >"$1/etc/spindle-packages"
}

# Lets the kernel run programs of the other processor with qemu, which it keeps open: roots need no copy of it.
emulate() {
    local register=/proc/sys/fs/binfmt_misc/register
    [ -e "$register" ] || mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
    [ ! -e "${register%/*}/qemu-aarch64" ] || return 0
    local entry=/usr/lib/binfmt.d/qemu-aarch64.conf
    [ -e "$entry" ] || die "there is no emulator of the processor: apt-get install qemu-user-static"
    cat "$entry" >"$register"
}

# --- using it --------------------------------------------------------------------------------------------------------

enter() { # ROOT COMMAND...
    local into=$1
    shift
    # shellcheck disable=SC2016  # the inner shell's
    ROOT=$into TREE=$root unshare --mount --pid --fork --kill-child bash -euc '
        bind() { mkdir -p "$ROOT$1"; mount --rbind "$1" "$ROOT$1"; }
        mount --make-rprivate /
        # A mount of its own, or no command in it could make namespaces.
        mount --bind "$ROOT" "$ROOT"
        mkdir -p "$ROOT/target"
        mount -t proc proc "$ROOT/proc"
        mount -t tmpfs tmpfs "$ROOT/tmp"
        bind /dev
        bind /sys
        for place in "$TREE" "${CARGO_HOME:-$HOME/.cargo}" "${RUSTUP_HOME:-$HOME/.rustup}" ${SPINDLE_ALSO-}; do bind "$place"; done
        mkdir -p "$TREE/build" "$ROOT/target/build"
        mount --bind "$ROOT/target/build" "$ROOT$TREE/build"
        # The runner of the Rust tests, where it is not among the programs of cargo.
        nextest=$(command -v cargo-nextest || :)
        [ -z "$nextest" ] || { mkdir -p "$ROOT$(dirname "$nextest")"; touch "$ROOT$nextest"; mount --bind "$nextest" "$ROOT$nextest"; }
        for file in /etc/resolv.conf /etc/hosts; do cp -L "$file" "$ROOT$file"; done
        export CARGO_TARGET_DIR=/target
        exec chroot "$ROOT" /bin/sh -c "cd \"\$1\" && shift && exec \"\$@\"" sh "$TREE" "$@"
    ' bash "$@"
}

native || emulate
if [ "$release" = alpine ]; then
    [ -d "$folder" ] || (set -- "$version" "$folder" && . "$here/alpine.bash")
elif [ ! -d "$folder" ]; then
    make_root
elif [ "$(cat "$folder/etc/spindle-packages" 2>/dev/null)" != "$list" ]; then
    install_in "$folder"
fi
[ $# -gt 0 ] || exit 0
enter "$folder" "$@"
