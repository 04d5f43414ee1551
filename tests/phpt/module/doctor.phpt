--TEST--
spindle doctor, with this PHP and other SAPIs: it works, the verdicts are the module's, and a script's blocks are reported
--SKIPIF--
<?php
require __DIR__ . '/doctor.inc';
if (!is_file(Doctor\command())) die('skip there is no command beside the module');
?>
--FILE--
<?php
require __DIR__ . '/kit.inc';
require __DIR__ . '/doctor.inc';

$ended = Doctor\json();
T\check('works', $ended['works'] && $ended['problems'] === [] && $ended['module']['loaded'], $ended);
T\check('this PHP', $ended['php']['version'] === PHP_VERSION && $ended['php']['sapi'] === 'cli' && !$ended['php']['thread_safe'], $ended['php']);
T\check('the build', preg_match('~^API\d{8},NTS~', $ended['php']['build']), $ended['php']);
T\check('the module', $ended['module']['version'] === phpversion('spindle') && $ended['module']['coroutines_work'] === true, $ended['module']);
$info = T\command(T\interpreter('--ri spindle'))->output;
preg_match_all('~^Kernel (.*?) => (\w+)~m', $info, $m);
T\check('features', array_column($ended['kernel']['features'], 'works', 'name') == array_map(fn ($word) => $word === 'works', array_combine($m[1], $m[2])), $ended['kernel'], $m);
preg_match_all('~^Extension (.*?) => (\w+)~m', $info, $m);
$same = ['proven' => ['proven'], 'serialised' => ['serialised', 'may_block', 'blocks'], 'blocks' => ['blocks']];
$verdicts = array_column($ended['extensions'], 'verdict', 'name');
$others = array_filter(array_combine($m[1], $m[2]), fn ($word, $name) => isset($verdicts[$name]) && !in_array($verdicts[$name], $same[$word]), ARRAY_FILTER_USE_BOTH);
T\check('verdicts', count(array_intersect($m[1], array_keys($verdicts))) > 5 && $others === [], $others, $verdicts);
T\check('limits', $ended['limits']['max_map_count'] === (int) file_get_contents('/proc/sys/vm/max_map_count'), $ended['limits']);

$script = __DIR__ . '/doctor-script.inc';
$ended = Doctor\json([$script, 'blocks', '--limit']);
T\check('blocks', $ended['script']['spawned'] && $ended['script']['succeeded'] && $ended['works'], $ended);
$found = array_column($ended['script']['blocks'], null, 'function');
// an emulator of the processor does not let the watchdog see where: then only that it blocks is reported
$seen = array_column($ended['kernel']['features'], 'works', 'name')['process_vm_readv']
    ? ($found['hash_pbkdf2']['line'] ?? 0) === 6 && $found['hash_pbkdf2']['file'] === $script && $found['hash_pbkdf2']['times'] >= 1
    : array_keys($found) === [''];
T\check('an internal function', $seen, $ended['script']);
T\check('arguments, errors and output', str_contains($ended['stderr'], 'blocks,--limit') && $ended['status'] === 1, $ended);
$ended = Doctor\json(['--limit', '60000', $script, 'waits']);
T\check('waiting', $ended['script']['spawned'] && $ended['script']['blocks'] === [] && $ended['status'] === 0, $ended);
$ended = Doctor\json([$script, 'plain']);
T\check('no coroutines', !$ended['script']['spawned'] && $ended['status'] === 0, $ended);
$ended = Doctor\json([$script, 'fails']);
T\check('failing', $ended['script']['ended'] === 'exit status: 9' && $ended['status'] === 1, $ended);

// the same says another SAPI, which runs no code from the command line
$fpm = glob('/usr/sbin/php-fpm' . PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION)[0] ?? null;
$cgi = glob('/usr/bin/php-cgi' . PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION)[0] ?? null;
foreach (['fpm' => $fpm, 'cgi' => $cgi] as $name => $php) {
    $ended = $php ? Doctor\json([], $php) : null;
    T\check($name, !$php || $ended['works'] && $ended['module']['coroutines_work'] === null && $ended['php']['version'] === PHP_VERSION
        && array_column($ended['extensions'], 'verdict', 'name')['json'] === 'proven' && $ended['kernel']['features'] !== [], $ended);
}

// a PHP in which much is forbidden
$folder = sys_get_temp_dir() . '/spindle-ini-' . getmypid();
mkdir($folder);
file_put_contents("$folder/z.ini", "disable_functions=phpinfo,getenv,putenv,stream_socket_pair,file,opcache_get_status,ini_get_all\nopen_basedir=/nowhere\n");
putenv('PHP_INI_SCAN_DIR=' . getenv('PHP_INI_SCAN_DIR') . ":$folder");
$ended = Doctor\json();
T\check('much forbidden', $ended['works'] && $ended['module']['coroutines_work'] && count($ended['extensions']) > 5, $ended);
unlink("$folder/z.ini");
rmdir($folder);

// a module that PHP cannot load
$broken = sys_get_temp_dir() . '/spindle-broken-' . getmypid() . '.so';
file_put_contents($broken, 'no shared object');
$ended = Doctor\json([], PHP_BINARY, $broken);
T\check('no module', !$ended['works'] && count($ended['problems']) === 1 && str_contains($ended['problems'][0], 'no shared object'), $ended);
unlink($broken);
?>
--EXPECT--
works: yes
this PHP: yes
the build: yes
the module: yes
features: yes
verdicts: yes
limits: yes
blocks: yes
an internal function: yes
arguments, errors and output: yes
waiting: yes
no coroutines: yes
failing: yes
fpm: yes
cgi: yes
much forbidden: yes
no module: yes
