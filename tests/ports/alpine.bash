# Sourced by root.bash. Makes a root with Alpine Linux, and in it a PHP that is built here with musl-gcc: Alpine's own packages are in its repositories
# only. Its musl, busybox and shell are what is tested.
#
# SPINDLE_ALPINE is the archive of Alpine's minimal root file system (alpine-minirootfs-…-x86_64.tar.gz). VERSION is that of PHP
# (8.2). Its source, and those of the libraries that its extensions need, are the source packages of the distribution;
# SPINDLE_PHP_SOURCE names the archive of another release of PHP. It lies where official images have it, with what they enable,
# less the extensions that take more libraries. A bash of Debian is added, for the suites' runners.
: "${root:?a part of a runner, which sources it}"

# shellcheck source=tests/apt.bash
. "$root/tests/apt.bash"
version=$1 folder=$2
[ -f "${SPINDLE_ALPINE-}" ] || die "SPINDLE_ALPINE names no archive of Alpine's minimal root file system"
for command in musl-gcc tclsh; do command -v $command >/dev/null || die "there is no $command: apt-get install musl-tools tcl"; done

make_work alpine
own_apt "$work" "deb deb-src"
jobs=$(nproc)
quietly() { "$@" >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; die "$* has failed"; }; }

# The newest version of a source package that is to be had.
fetch_source() { # PACKAGE
    local version
    mkdir -p "$work/$1"
    for version in $(apt-cache "${apt[@]}" showsrc --only-source "$1" | sed -n 's/^Version: //p' | sort -urV); do
        (cd "$work/source" && apt-get "${apt[@]}" source --download-only --only-source "$1=$version") >"$work/log" 2>&1 || continue
        tar -x --auto-compress --strip-components=1 --no-same-owner -C "$work/$1" -f "$(compgen -G "$work/source/$1_*.orig.tar.*[!c]")"
        return
    done
    cat "$work/log" >&2
    die "the source package $1 is not to be had"
}

# musl-gcc knows no headers of the kernel, which Alpine has as linux-headers.
mkdir -p "$work/kernel" "$work/libs/lib/pkgconfig" "$work/libs/include"
ln -s /usr/include/linux /usr/include/asm-generic "/usr/include/$(gcc -print-multiarch)/asm" "$work/kernel"
export CC=musl-gcc CFLAGS="-O1 -g0 -fPIC -idirafter $work/kernel" PKG_CONFIG_LIBDIR=$work/libs/lib/pkgconfig

fetch_source zlib
(cd "$work/zlib" && quietly ./configure --static --prefix="$work/libs" && quietly make -j"$jobs" install)
fetch_source sqlite3
(
    cd "$work/sqlite3"
    quietly ./configure --disable-tcl
    quietly make sqlite3.c
    # shellcheck disable=SC2086  # words
    quietly $CC $CFLAGS -DSQLITE_THREADSAFE=1 -c sqlite3.c
    ar rcs "$work/libs/lib/libsqlite3.a" sqlite3.o
    cp sqlite3.h sqlite3ext.h "$work/libs/include"
    printf 'Name: sqlite3\nDescription: SQLite\nVersion: %s\nCflags: -I%s\nLibs: -L%s -lsqlite3 -lm\n' \
        "$(cat VERSION)" "$work/libs/include" "$work/libs/lib" >"$PKG_CONFIG_LIBDIR/sqlite3.pc"
)

if [ -n "${SPINDLE_PHP_SOURCE-}" ]; then
    mkdir "$work/php"
    tar -x --auto-compress --strip-components=1 --no-same-owner -C "$work/php" -f "$SPINDLE_PHP_SOURCE"
else
    fetch_source "php$version"
    mv "$work/php$version" "$work/php"
fi
mkdir "$work/alpine"
tar -xzf "$SPINDLE_ALPINE" -C "$work/alpine"
(
    cd "$work/php"
    [ -x configure ] || quietly ./buildconf --force
    # php-config calls sed by this path.
    ac_cv_path_SED=/bin/sed quietly ./configure --prefix=/usr/local --with-config-file-path=/usr/local/etc/php \
        --with-config-file-scan-dir=/usr/local/etc/php/conf.d --disable-all --disable-cgi --disable-phpdbg --enable-fpm \
        --enable-ctype --enable-filter --enable-ftp --enable-mbstring --disable-mbregex --enable-opcache --enable-pcntl --enable-pdo \
        --enable-phar --enable-posix --enable-session --enable-shmop --enable-sockets --enable-sysvmsg --enable-sysvsem \
        --enable-sysvshm --enable-tokenizer --with-pdo-sqlite --with-sqlite3 --with-zlib
    quietly make -j"$jobs"
    quietly make install INSTALL_ROOT="$work/alpine"
)
mkdir -p "$work/alpine/usr/local/etc/php/conf.d"

mkdir "$work/bash"
(cd "$work/bash" && quietly apt-get "${apt[@]}" download bash-static && quietly dpkg-deb -x bash-static_*.deb .)
cp "$work/bash/bin/bash-static" "$work/alpine/bin/bash"
mkdir -p "$(dirname "$folder")"
mv "$work/alpine" "$folder"
