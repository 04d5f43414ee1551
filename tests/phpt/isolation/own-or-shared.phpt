--TEST--
CORO-8 what is each coroutine's own and what is the process's, item by item, as docs/isolation.md has it
--EXTENSIONS--
mbstring
libxml
simplexml
sockets
session
posix
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';
T\without_deprecations();

function handler_a() {}
function handler_b() {}
function counter(?int $set = null): int
{
    static $value = 0;
    return $value = $set ?? $value;
}

$work = T\work_in();
foreach (['a', 'b'] as $name) {
    mkdir($name);
    file_put_contents("$name.php", "<?php const INCLUDED_$name = 1; function from_$name() {} class From_$name {}");
}
libxml_use_internal_errors(true);
$ini = fn (string $name, string $a, string $b): array => [fn ($v) => ini_set($name, $v === 'a' ? $a : $b), fn () => ini_get($name)];
$error_of = fn (callable $set, callable $restore): callable => function () use ($set, $restore) {
    $handler = $set(null);
    $restore();
    return $handler;
};

// name => [what sets it to one of two values, what says its value, what sets it back]
$items = [
    'error_reporting' => [fn ($v) => error_reporting($v === 'a' ? E_ERROR : E_WARNING), error_reporting(...)],
    'set_error_handler' => [fn ($v) => set_error_handler("handler_$v"), $error_of(set_error_handler(...), restore_error_handler(...))],
    'error_get_last' => [fn ($v) => @trigger_error($v), fn () => error_get_last()['message'] ?? null],
    'output buffers' => [fn ($v) => ob_start(fn () => '') && print $v, ob_get_contents(...)],
    'ob_get_level' => [fn ($v) => $v === 'a' ? ob_start() : ob_start() && ob_start(), ob_get_level(...)],
    'strtok' => [fn ($v) => strtok(str_repeat("$v ", 9), ' '), fn () => @strtok(' ')],

    'set_exception_handler' => [fn ($v) => set_exception_handler("handler_$v"), $error_of(set_exception_handler(...), restore_exception_handler(...)), fn () => set_exception_handler(null)],
    'chdir' => [fn ($v) => chdir("$work/$v"), getcwd(...), fn () => chdir($work)],
    'umask' => [fn ($v) => umask($v === 'a' ? 027 : 007), fn () => umask()],
    'setlocale' => [fn ($v) => setlocale(LC_ALL, $v === 'a' ? 'C.UTF-8' : 'C'), fn () => setlocale(LC_ALL, 0), fn () => setlocale(LC_ALL, 'C')],
    'date_default_timezone_set' => [fn ($v) => date_default_timezone_set($v === 'a' ? 'Asia/Tokyo' : 'Europe/Oslo'), date_default_timezone_get(...)],
    'putenv' => [fn ($v) => putenv("SPINDLE_TEST=$v"), fn () => getenv('SPINDLE_TEST')],
    'precision' => $ini('precision', '5', '6'),
    'memory_limit' => $ini('memory_limit', '500M', '600M'),
    'default_socket_timeout' => $ini('default_socket_timeout', '5', '6'),
    'include_path' => $ini('include_path', '/a', '/b'),
    'assert.exception' => [...$ini('assert.exception', '0', '1')],
    'display_errors' => [...$ini('display_errors', '0', '1')],
    'set_time_limit' => [fn ($v) => set_time_limit($v === 'a' ? 500 : 600), fn () => ini_get('max_execution_time')],
    'mb_internal_encoding' => [fn ($v) => mb_internal_encoding($v === 'a' ? 'EUC-JP' : 'ISO-8859-1'), fn () => mb_internal_encoding()],
    'libxml errors' => [fn ($v) => simplexml_load_string($v === 'a' ? '<a>' : '<a></b>'), fn () => libxml_get_last_error() ? libxml_get_last_error()->code : 0],
    'json_last_error' => [fn ($v) => json_decode($v === 'a' ? '{' : "\"\xff\""), json_last_error(...)],
    'preg_last_error' => [fn ($v) => @preg_match('/x/u', $v === 'a' ? "\xff" : 'b'), preg_last_error(...)],
    'socket_last_error' => [fn ($v) => $v === 'a' ? @socket_create(AF_INET, SOCK_STREAM, 12345) : socket_clear_error(), fn () => socket_last_error()],
    'stream_context_set_default' => [fn ($v) => stream_context_set_default(['http' => ['user_agent' => $v]]), fn () => stream_context_get_options(stream_context_get_default())['http']['user_agent'] ?? null],
    'http_response_code' => [fn ($v) => http_response_code($v === 'a' ? 404 : 410), fn () => http_response_code()],
    'session_name' => [fn ($v) => session_name($v), fn () => session_name()],
    'static variables' => [fn ($v) => counter(ord($v)), fn () => counter()],
    'global variables' => [fn ($v) => $GLOBALS['variable'] = $v, fn () => $GLOBALS['variable'] ?? null],
    'superglobals' => [fn ($v) => $_GET['variable'] = $v, fn () => $_GET['variable'] ?? null],
    'constants' => [fn ($v) => define("CONSTANT_$v", 1), fn () => [defined('CONSTANT_a'), defined('CONSTANT_b')]],
    'includes' => [fn ($v) => require_once "$work/$v.php", fn () => [count(get_included_files()), function_exists('from_a'), class_exists('From_b')]],
    'spl_autoload_register' => [fn ($v) => spl_autoload_register(fn () => false), fn () => count(spl_autoload_functions())],
    'stream_wrapper_register' => [fn ($v) => stream_wrapper_register("wrap$v", ArrayObject::class), fn () => count(stream_get_wrappers())],
    'gc_disable' => [fn ($v) => $v === 'a' ? gc_disable() : gc_enable(), gc_enabled(...)],
];
$kinds = [];
foreach ($items as $name => $item) {
    [$set, $get] = $item;
    $before = $get();
    $turn = 'a'; // not who runs first: setting may read a file, and give way
    $a = spawn(function () use ($set, $get, &$turn) {
        $set('a');
        $mine = $get();
        $turn = 'b';
        while ($turn === 'b') {
            suspend();
        }
        return [$mine, $get()];
    });
    $b = spawn(function () use ($set, $get, &$turn) {
        while ($turn === 'a') {
            suspend();
        }
        $seen = $get();
        $set('b');
        $mine = $get();
        $turn = 'a';
        return [$seen, $mine];
    });
    [[$a1, $a2], [$seen, $b1]] = [await($a), await($b)];
    $kind = match (true) {
        $seen === $before && $a2 === $a1 && $get() === $before => 'own',
        $seen === $a1 && $a2 === $b1 && $get() === $b1 => 'shared',
        default => 'MIXED ' . json_encode(compact('before', 'a1', 'seen', 'b1', 'a2')),
    };
    $kinds[$a1 === $before || $b1 === $a1 ? "$kind, NOT SET" : $kind][] = $name;
    ($item[2] ?? fn () => null)();
}
ini_set('display_errors', '1');
foreach ($kinds as $kind => $names) {
    echo "$kind: ", implode(', ', $names), "\n";
}
?>
--EXPECT--
own: error_reporting, set_error_handler, error_get_last, output buffers, ob_get_level, strtok
shared: set_exception_handler, chdir, umask, setlocale, date_default_timezone_set, putenv, precision, memory_limit, default_socket_timeout, include_path, assert.exception, display_errors, set_time_limit, mb_internal_encoding, libxml errors, json_last_error, preg_last_error, socket_last_error, stream_context_set_default, http_response_code, session_name, static variables, global variables, superglobals, constants, includes, spl_autoload_register, stream_wrapper_register, gc_disable
