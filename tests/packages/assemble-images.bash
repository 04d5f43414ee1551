# Makes stand-ins for the official images of PHP and Rust, for `tests/packages/run images` where their registry is out of reach:
# PHP as the official recipe builds it, in a Debian by debootstrap, and Rust's image with the compiler that is used here.
#
#   tests/packages/run --assemble-images RECIPE TARBALL   the folder of a recipe of github.com/docker-library/php (8.2/bookworm/cli),
#                                                   and PHP's sources, of which the recipe knows the checksum
#
# They are named as the official ones, in buildah's storage on this machine: `buildah rmi` removes them. It needs root, buildah,
# debootstrap, and Debian's archive. What is left out of a recipe is what asks other servers: keys, signatures, PECL's channels.
: "${root:?a part of a runner, which sources it}"

[ $# -eq 2 ] || die "see assemble-images.bash"
recipe=$(realpath "$1") tarball=$(realpath "$2")
[ -f "$recipe/Dockerfile" ] || die "$recipe has no Dockerfile"
suite=$(sed -n 's/^FROM debian:\(.*\)-slim$/\1/p' "$recipe/Dockerfile")
version=$(sed -n 's/^ENV PHP_VERSION \([0-9]*\.[0-9]*\)\..*/\1/p' "$recipe/Dockerfile")
[ -n "$suite" ] && [ -n "$version" ] || die "$recipe is not a recipe of PHP in a Debian"
export BUILDAH_ISOLATION=chroot
make_work images
image() { # NAME FROM FOLDER [CONFIG...]
    local name=$1 container
    container=$(buildah from --pull-never "$2")
    buildah add -q "$container" "$3" / >/dev/null
    shift 3
    [ $# -eq 0 ] || buildah config "$@" "$container"
    buildah commit -q --rm "$container" "docker.io/library/$name" >/dev/null
    echo "$name"
}

# --- Debian ----------------------------------------------------------------------------------------------------------

# shellcheck disable=SC2016  # these are apt's variables
mirror=$(apt-get indextargets --format '$(LABEL) $(REPO_URI)' | awk '$1 == "Debian" { print $2; exit }')
# shellcheck disable=SC2016
security=$(apt-get indextargets --format '$(LABEL) $(REPO_URI)' | awk '$1 == "Debian-Security" { print $2; exit }')
debootstrap --variant=minbase "$suite" "$work/debian" "$mirror" >"$work/log" || { tail "$work/log" >&2; die "debootstrap has failed"; }
[ -z "$security" ] || echo "deb $security $suite-security main" >"$work/debian/etc/apt/sources.list.d/security.list"
# The machine's own authorities, where its network has one; and its clock may be past the time for which an archive vouches.
mkdir -p "$work/debian/usr/local/share/ca-certificates"
cp /usr/local/share/ca-certificates/*.crt "$work/debian/usr/local/share/ca-certificates" 2>/dev/null || :
echo 'Acquire::Check-Valid-Until "false";' >"$work/debian/etc/apt/apt.conf.d/90spindle"
rm -rf "$work"/debian/var/{lib/apt/lists,cache/apt/archives}/*
image "debian:$suite-slim" scratch "$work/debian" --cmd bash

# --- Rust ------------------------------------------------------------------------------------------------------------

toolchain=$(rustc --print sysroot) name=$(rustc --version | cut -d ' ' -f 2)-$(rustc -vV | sed -n 's/^host: //p')
rust=$work/rust/usr/local
mkdir -p "$rust/rustup/toolchains/$name" "$rust/cargo"
tar -C "$toolchain" --exclude=./share/doc -cf - . | tar -C "$rust/rustup/toolchains/$name" -xf -
cp -a "${CARGO_HOME:-$HOME/.cargo}/bin" "$rust/cargo"
printf 'version = "12"\ndefault_toolchain = "%s"\n' "$name" >"$rust/rustup/settings.toml"
image rust:1-bookworm "docker.io/library/debian:$suite-slim" "$work/rust" --env RUSTUP_HOME=/usr/local/rustup \
    --env CARGO_HOME=/usr/local/cargo --env PATH=/usr/local/cargo/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

# --- PHP -------------------------------------------------------------------------------------------------------------

cp -R "$recipe" "$work/php"
cp "$tarball" "$work/php/php.sources"
# The tarball is copied in place of a download; its checksum is looked at by the recipe.
sed -i -e 's#^ENV PHP_URL=.*#ENV PHP_URL="file:///php.sources"\nCOPY php.sources /#' \
    -e '/PHP_ASC_URL\|GNUPGHOME\|gpg --batch\|gpgconf/d' -e '/for key in/,/done/d' -e 's/pecl update-channels/:/' "$work/php/Dockerfile"
buildah bud -q --network host -t "docker.io/library/php:$version-cli" "$work/php" >"$work/log" 2>&1 ||
    { tail -n 40 "$work/log" >&2; die "the recipe has failed"; }
echo "php:$version-cli"
