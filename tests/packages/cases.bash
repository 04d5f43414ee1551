# Sourced by `run`: the cases, a function each.
: "${root:?a part of a runner, which sources it}"

# --- refusals --------------------------------------------------------------------------------------------------------

# A php-config that answers as another PHP's.
fake_config() { # FOLDER VERSION NUMBER DEFINE
    mkdir -p "$1/include/main"
    printf '#define ZTS 0\n/* #undef ZEND_DEBUG */\n%s\n' "${4:+#define $4 1}" >"$1/include/main/php_config.h"
    sed -i '/ZTS 0/d' "$1/include/main/php_config.h"
    cat >"$1/php-config" <<EOF
#!/bin/sh
case \$1 in --version) echo $2 ;; --vernum) echo $3 ;; --include-dir) echo $1/include ;; --includes) echo -I$1/include ;; esac
EOF
    chmod 755 "$1/php-config"
}

# Is a command refused with one line, that says this?
refused() { # TEXT COMMAND...
    local text=$1 output
    shift
    if output=$("$@" 2>&1); then echo "not refused: $output"; return 1; fi
    echo "$output"
    [ "$(wc -l <<<"$output")" -eq 1 ] && [[ $output == *"$text"* ]]
}

# A PATH of links to all commands but these.
path_without() { # FOLDER COMMAND...
    local folder=$1 file name
    shift
    mkdir -p "$folder"
    for file in /usr/local/bin/* /usr/bin/* "${sysroot}"/bin/*; do
        name=${file##*/}
        [[ " $* " == *" $name "* ]] || ln -sf "$file" "$folder/$name"
    done
}

case_refusals() {
    local needs=$root/scripts/requirements empty=$work/refusals
    fake_config "$empty/old" 7.4.33 70433 ''
    fake_config "$empty/zts" 8.2.30 80230 ZTS
    fake_config "$empty/debug" 8.2.30 80230 ZEND_DEBUG
    fake_config "$empty/headerless" 8.2.30 80230 ''
    rm "$empty/headerless/include/main/php_config.h"
    check 'all is there' "$needs"
    check 'no php-config' refused 'there is no /nowhere/php-config: install' "$needs" /nowhere/php-config
    check 'a php-config that is none' refused "does not answer as PHP's does" "$needs" /bin/true
    check 'an old PHP' refused 'is that of PHP 7.4.33: Spindle needs PHP 8.2 or later' "$needs" "$empty/old/php-config"
    check 'a thread-safe PHP' refused 'is that of a thread-safe PHP 8.2.30 (ZTS)' "$needs" "$empty/zts/php-config"
    check 'a debug build of PHP' refused 'is that of a debug build of PHP 8.2.30' "$needs" "$empty/debug/php-config"
    check 'no headers of PHP' refused 'php_config.h: install the development files of PHP 8.2.30' "$needs" "$empty/headerless/php-config"
    path_without "$empty/no-cargo" cargo
    check 'no cargo' refused 'there is no cargo: install Rust' env -u CARGO HOME=/nowhere PATH="$empty/no-cargo" "$needs"
    path_without "$empty/no-cc" cc
    check 'no compiler' refused "there is no C compiler 'cc': install gcc" env PATH="$empty/no-cc" "$needs"
    printf '#!/bin/sh\necho "cargo 1.70.0 (of old)"\n' >"$empty/cargo"
    chmod 755 "$empty/cargo"
    check 'an old cargo' refused 'cargo is that of Rust 1.70.0: Spindle needs Rust' env CARGO="$empty/cargo" "$needs"
    check 'make build names it too' env -u MAKELEVEL -u MAKEFLAGS bash -c "cd '$root' && ! make build PHP_CONFIG='$empty/zts/php-config' 2>&1 | grep -v '^make: ' >'$empty/made'; cat '$empty/made'; [ \$(wc -l <'$empty/made') = 1 ] && grep -q thread-safe '$empty/made'"
    check 'the build script of cargo names it too' bash -c "cd '$root' && ! PHP_CONFIG='$empty/debug/php-config' '$cargo' build -q -p spindle-php-sys >'$empty/built' 2>&1; cat '$empty/built'; [ \$(wc -l <'$empty/built') -le 2 ] && head -n 1 '$empty/built' | grep -q 'is that of a debug build of PHP 8.2.30: Spindle needs one built without'"
}

# --- from what was built here ----------------------------------------------------------------------------------------

case_archives() {
    local dist=$root/build/dist zip
    rm -rf "$dist"
    check 'make dist' "$root/scripts/dist" archives
    zip=$(cd "$dist" && echo php_spindle-"$version"_php"$php_version"-*-linux-glibc.zip)
    check "the name that PIE looks for" test -f "$dist/$zip"
    check 'the same sources give the same archives' bash -c "cd '$dist' && cp SHA256SUMS '$work/sums' && '$root/scripts/dist' archives >/dev/null && cmp SHA256SUMS '$work/sums'"
    check 'checksums' bash -c "cd '$dist' && sha256sum --strict -c SHA256SUMS"
    check 'spindle.so is at its root' bash -c "unzip -Z1 '$dist/$zip' | grep -qx spindle.so"
    new_root archives php
    mkdir -p "$work/archives/upper/pkgs/zip"
    unzip -q "$dist/$zip" -d "$work/archives/upper/pkgs/zip"
    tar -C "$work/archives/upper/pkgs" --strip-components=1 -xzf "$dist"/spindle-"$version"-*.tar.gz
    check 'the header is there' cmp "$root/include/spindle.h" "$work/archives/upper/pkgs/zip/spindle.h"
    check 'it is stripped' bash -c "! readelf -SW '$work/archives/upper/pkgs/zip/spindle.so' | grep -qE '[.](symtab|debug_)'"
    check "it is loaded" in_root archives "cp /pkgs/zip/spindle.so \$(php -r 'echo ini_get(\"extension_dir\");') && echo extension=spindle > /etc/php/$php_version/cli/conf.d/20-spindle.ini && $loaded && $works"
    check 'the command' in_root archives "test \"\$(/pkgs/spindle --version)\" = 'spindle $version' && /pkgs/spindle doctor"
}

case_deb() {
    local dist=$root/build/dist name=php$php_version-spindle
    check 'make deb' "$root/scripts/dist" deb
    check 'checksums of the packages' bash -c "cd '$dist' && grep -q deb SHA256SUMS && sha256sum --strict -c SHA256SUMS"
    new_root deb-without base
    mkdir -p "$work/deb-without/upper/pkgs"
    cp "$dist"/*.deb "$work/deb-without/upper/pkgs"
    check 'not installed without PHP' in_root deb-without "! dpkg -i /pkgs/$name*.deb 2>&1 | tee /tmp/why; grep -q 'depends on phpapi-$api' /tmp/why"
    new_root deb php
    mkdir -p "$work/deb/upper/pkgs"
    cp "$dist"/*.deb "$work/deb/upper/pkgs"
    in_root deb "$listing" >"$work/before"
    check 'installed' in_root deb "apt-get -qq install -y /pkgs/*.deb && $loaded && $works"
    check 'the header of the package' in_root deb "test -s /usr/include/php/$api/ext/spindle/spindle.h"
    check 'the command of the package' in_root deb "test \"\$(spindle --version)\" = 'spindle $version' && spindle doctor"
    check 'phpquery and phpdismod know it' in_root deb "phpquery -q -v $php_version -s cli -m spindle && phpdismod spindle && $absent && phpenmod spindle && $loaded"
    check 'installed again, settings are kept' in_root deb "echo '; mine' >> /etc/php/$php_version/mods-available/spindle.ini && dpkg -i /pkgs/$name*.deb && grep -qx '; mine' /etc/php/$php_version/mods-available/spindle.ini && $loaded"
    check 'removed' in_root deb "apt-get -qq remove -y $name php-spindle-tools && $absent && test -e /etc/php/$php_version/mods-available/spindle.ini && ! command -v spindle"
    check 'purged' in_root deb "apt-get -qq install -y /pkgs/*.deb && apt-get -qq purge -y $name php-spindle-tools && $absent && test -z \"\$(dpkg --audit)\""
    in_root deb "$listing" >"$work/after"
    check 'nothing is left' diff "$work/before" "$work/after"
}

# --- from source -----------------------------------------------------------------------------------------------------

case_install() {
    new_root install dev
    sources install
    in_root install "$listing" >"$work/before"
    check 'make install, from nothing' in_root install "cd /src && make install && $loaded && $works"
    check 'the command that was installed' in_root install "test \"\$(spindle --version)\" = 'spindle $version' && spindle doctor --json | grep -q '\"works\": true'"
    check 'an extension that uses the header' in_root install "cc -shared -fPIC \$(php-config --includes) -I\$(php-config --include-dir)/ext/spindle /src/examples/extensions/queue/*.c -o /tmp/queue.so && test \"\$(php -d extension=/tmp/queue.so -r 'use function Async\\{spawn, await}; \$q = new Acme\\Queue; \$c = spawn(fn () => \$q->receive()); \$q->publish(\"it works\"); echo await(\$c);')\" = 'it works'"
    check 'settings are kept' in_root install "echo '; mine' >> /etc/php/$php_version/mods-available/spindle.ini && cd /src && make install && grep -qx '; mine' /etc/php/$php_version/mods-available/spindle.ini"
    check 'make uninstall' in_root install "cd /src && make uninstall && $absent"
    in_root install "$listing" >"$work/after"
    check 'make uninstall leaves nothing' diff "$work/before" "$work/after"
    check 'make install with DESTDIR' in_root install "cd /src && make install DESTDIR=/out && test -f /out/usr/lib/php/$api/spindle.so && test -x /out/usr/local/bin/spindle && test -f /out/usr/include/php/$api/ext/spindle/spindle.h && $absent"
    check 'without mods-available, in the folder that PHP scans' in_root install "mv /etc/php/$php_version/mods-available /etc/php/aside && cd /src && make install && test -f /etc/php/$php_version/cli/conf.d/spindle.ini && $loaded && make uninstall && $absent && test ! -e /etc/php/$php_version/cli/conf.d/spindle.ini && mv /etc/php/aside /etc/php/$php_version/mods-available"
    check 'what does not load is an error' in_root install "cd /src && cp build/spindle.so /tmp/kept && echo broken > build/spindle.so && ! SUDO_USER=somebody make install 2>/tmp/why; cat /tmp/why; cp /tmp/kept build/spindle.so; grep -q 'does not load it' /tmp/why"
    check 'no libclang' in_root install "cd /src && apt-get -qq remove -y 'libclang*' >/dev/null && ! make build 2>/tmp/why; cat /tmp/why; test \$(grep -vc '^make: ' /tmp/why) = 1 && grep -q 'there is no libclang' /tmp/why"
}

case_pie() {
    new_root pie dev
    sources pie
    check 'phpize' in_root pie 'cd /src && sha256sum Makefile >/tmp/sum && cd packaging/pie && phpize'
    check 'configure without cargo' in_root pie 'cd /src/packaging/pie && ! ./configure --with-spindle-cargo=/nowhere >/tmp/out 2>&1; tail -n 1 /tmp/out; tail -n 1 /tmp/out | grep -q "configure: error: spindle: there is no cargo: install Rust"'
    check 'configure, make, make install, as PIE runs them' in_root pie "cd /src/packaging/pie && ./configure --with-php-config=\$(command -v php-config$php_version) && make -j2 && test -f modules/spindle.so && make install"
    check 'the header that it has installed' in_root pie "cmp /src/include/spindle.h \$(php-config --include-dir)/ext/spindle/spindle.h"
    check 'what it has installed' in_root pie "echo extension=spindle > /etc/php/$php_version/cli/conf.d/20-spindle.ini && $loaded && $works"
    check 'phpize --clean, and the sources are as before' in_root pie 'cd /src/packaging/pie && phpize --clean && test ! -e modules && cd /src && sha256sum -c /tmp/sum'
    check 'without libclang, configure' in_root pie "apt-get -qq remove -y 'libclang*' >/dev/null; cd /src/packaging/pie && phpize >/dev/null && ! ./configure >/tmp/out 2>&1; tail -n 1 /tmp/out; tail -n 1 /tmp/out | grep -q 'configure: error: spindle: there is no libclang'"
    check 'without libclang, cargo' in_root pie "cd /src && touch crates/php-sys/glue/glue.h && ! cargo build -q --release -p spindle-php-sys >/tmp/out 2>&1; cat /tmp/out; test \$(wc -l </tmp/out) -le 2 && head -n 1 /tmp/out | grep -q 'libclang and clang.s headers are needed'"
    if [ -n "${PIE-}" ]; then
        pie_itself
    else
        skip 'pie itself: PIE does not name its command'
    fi
}

# PIE itself, from a local path.
pie_itself() {
    new_root pie-itself dev
    sources pie-itself
    mkdir -p "$work/pie-itself/upper/pie"
    cp -a "$(dirname "$(dirname "$(realpath "$PIE")")")/." "$work/pie-itself/upper/pie"
    check 'what PIE needs' in_root pie-itself "apt-get -qq install -y --no-install-recommends php$php_version-mbstring php$php_version-curl php$php_version-intl unzip git ca-certificates autoconf automake libtool bison re2c"
    # The schema comes with Composer, which a phar has inside.
    [ ! -f "$work/pie-itself/upper/pie/vendor/autoload.php" ] ||
        check "composer.json, by Composer's schema" in_root pie-itself "php -r 'require \"/pie/vendor/autoload.php\"; (new Composer\\Json\\JsonFile(\"/src/composer.json\"))->validateSchema();'"
    check 'pie repository:add' in_root pie-itself "$pie repository:add path /src"
    # Before 1.4 PIE takes one way to download, not a list, and has no way for binaries.
    if in_root pie-itself "$pie info 'spindle-php/spindle:*@dev' 2>&1 || :" | grep -q 'DownloadUrlMethod::tryFrom.*array given'; then
        skip 'a list of ways to download: this PIE is older than 1.4'
        sed -i 's/"download-url-method": .*/"download-url-method": "composer-default",/' "$work/pie-itself/upper/src/composer.json"
    fi
    check 'pie info' in_root pie-itself "$pie info 'spindle-php/spindle:*@dev' | tee /tmp/out; grep -q -e --with-spindle-cargo /tmp/out"
    check 'pie install' in_root pie-itself "$pie install --no-interaction 'spindle-php/spindle:*@dev' && $loaded && $works"
    check 'pie show' in_root pie-itself "$pie show | tee /tmp/out; grep -q 'spindle.*spindle-php/spindle' /tmp/out"
    check 'pie uninstall' in_root pie-itself "$pie uninstall --no-interaction spindle-php/spindle && $absent && test ! -e /usr/lib/php/$api/spindle.so"
}
pie='php -d error_reporting=8191 /pie/bin/pie' # without notices of what is deprecated in the PHP at hand

# The commands of the Dockerfile, without an engine: PHP is Debian's in the place of the official image.
case_docker() {
    local file=$root/packaging/docker/Dockerfile stage=0 word rest installed=/out
    new_root docker php
    touch "$work/docker/upper/etc-with-rust" && mkdir -p "$work/docker/upper/etc" && mv "$work/docker/upper/etc-with-rust" "$work/docker/upper/etc/with-rust"
    check 'what the official image has' in_root docker "apt-get -qq install -y --no-install-recommends php$php_version-dev"
    new_root docker-result php
    while read -r word rest; do
        case $word in
            FROM) stage=$((stage + 1)) ;;
            COPY)
                case $rest in
                    '. /src') sources docker ;;
                    "--from=build $installed /") merge "$work/docker/upper$installed" "$work/docker-result/upper" ;;
                    --from=rust*) ;; # is there
                    *) check "COPY $rest is understood" false ;;
                esac
                ;;
            RUN)
                if [ "$stage" -eq 2 ]; then
                    # Debian's PHP scans a folder for each SAPI, as the official one does, but has phpenmod besides.
                    check "RUN $rest" in_root docker "cd /src 2>/dev/null || cd /; $rest"
                else
                    # A folder put upon another has no phpenmod run in it: enabled as the image's scan folder would.
                    in_root docker-result "[ ! -d /etc/php/$php_version/mods-available ] || phpenmod spindle || :" >/dev/null 2>&1
                    check "RUN $rest" in_root docker-result "$rest"
                fi
                ;;
        esac
    done <"$file"
    check 'the image has it' in_root docker-result "$loaded && $works"
}

# --- images ----------------------------------------------------------------------------------------------------------

case_images() {
    if ! command -v buildah >/dev/null; then
        skip "images: there is no buildah; 'scripts/setup packages' installs it"
        return
    fi
    export BUILDAH_ISOLATION=chroot
    mkdir "$work/own"
    sources context
    image_of Dockerfile "$php_version-cli" rust:1-bookworm
    image_of Dockerfile.alpine "$php_version-cli-alpine" rust:1-alpine 'RUN apk add --no-cache libgcc'
}

# Builds an image, and another one as the documentation copies Spindle out of it.
image_of() { # DOCKERFILE TAG RUST [LINE]
    local file=$1 tag=$2 one name=localhost/spindle-packages:$$ own=localhost/spindle-packages-own:$$ sources=$work/context/upper/src
    for one in "php:$tag" "$3"; do
        if ! buildah pull -q --policy missing "docker.io/library/$one" >"$work/output" 2>&1; then
            skip "$file: $one cannot be had: $(tail -n 1 "$work/output" | tail -c 150)"
            return
        fi
    done
    check "$file is built" buildah bud -q --network host -f "packaging/docker/$file" --build-arg "PHP=$tag" -t "$name" "$sources"
    {
        printf 'FROM php:%s\n%s\n' "$tag" "${4-}"
        sed -n '/^```dockerfile$/,/^```$/{/^```/d;p}' "$root/docs/install.md" | sed "s#=php-spindle #=$name #"
        printf 'RUN %s && %s\n' "$loaded" "$works"
    } >"$work/own.Dockerfile"
    check "$file: an image of one's own has it" buildah bud -q -f "$work/own.Dockerfile" -t "$own" "$work/own"
    buildah rmi "$own" "$name" >"$work/output" 2>&1 || :
}
