# Puts PIE together from its sources, for `PIE=FOLDER/bin/pie tests/packages/run pie`: of its releases there is only an archive
# that is downloaded. What it depends on comes from Debian's packages, which are unpacked and not installed.
#
#   tests/packages/run --assemble-pie FOLDER PIE ATTESTATION DEB...
#
# PIE and ATTESTATION are folders with the sources of php/pie and thephpf/attestation, and of fidry/cpu-core-counter where the
# packages lack it: a folder may be named in the place of a DEB. The packages (`apt-get download`) are those of PIE's
# composer.lock, in the versions that composer.json asks for: composer and its dependencies, illuminate's container and
# contracts, symfony's console, event dispatcher, filesystem, finder, process, string, contracts, and its polyfills for what
# the PHP lacks, webmozart's assert, and psr's container, event dispatcher, log and simple cache.
: "${root:?a part of a runner, which sources it}"

[ $# -ge 4 ] || die "see assemble-pie.bash"
folder=$1 pie=$2 attestation=$3
shift 3
[ ! -e "$folder" ] || die "$folder is there already"
[ -f "$pie/bin/pie" ] || die "$pie has no bin/pie"

mkdir -p "$folder/vendor"
cp -R "$pie/bin" "$pie/src" "$pie/resources" "$pie/composer.json" "$folder"
cp -R "$attestation" "$folder/vendor/attestation"
for each in "$@"; do
    if [ -d "$each" ]; then
        cp -R "$each" "$folder/vendor/$(basename "$each")"
    else
        dpkg-deb -x "$each" "$folder/vendor"
    fi
done

# The folders of the packages are named after the namespaces. PIE asks Composer which version of it this is.
cat >"$folder/vendor/autoload.php" <<'PHP'
<?php
$roots = ['Php\\Pie\\' => __DIR__ . '/../src/', '' => __DIR__ . '/usr/share/php/'];
foreach (glob(__DIR__ . '/*/composer.json') as $file) {
    $composer = json_decode(file_get_contents($file), true, 512, JSON_THROW_ON_ERROR);
    foreach ($composer['autoload']['psr-4'] ?? [] as $prefix => $place) {
        $roots = [$prefix => dirname($file) . "/$place"] + $roots;
    }
}
spl_autoload_register(static function (string $class) use ($roots): void {
    foreach ($roots as $prefix => $place) {
        if (str_starts_with($class, $prefix)) {
            $file = $place . strtr(substr($class, strlen($prefix)), '\\', '/') . '.php';
            if (is_file($file)) {
                require $file;
                return;
            }
        }
    }
});
foreach (['React/Promise/functions_include', 'Symfony/Contracts/Deprecation/function'] as $file) {
    require __DIR__ . "/usr/share/php/$file.php";
}
require __DIR__ . '/usr/share/php/Symfony/Component/String/Resources/functions.php';
foreach (glob(__DIR__ . '/usr/share/php/Symfony/Polyfill/*/bootstrap.php') as $file) {
    require $file;
}
$self = ['pretty_version' => 'dev', 'version' => 'dev', 'reference' => null, 'type' => 'project',
    'install_path' => __DIR__ . '/..', 'aliases' => [], 'dev' => false, 'dev_requirement' => false];
Composer\InstalledVersions::reload(['root' => ['name' => 'php/pie'] + $self, 'versions' => ['php/pie' => $self]]);
PHP
"${PHP:-php}" "$folder/bin/pie" --version >/dev/null || die "what was put together does not run"
echo "$folder/bin/pie"
