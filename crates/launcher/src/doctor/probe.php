<?php
// Run by `spindle doctor`: writes what this PHP is, as JSON, to the file that its argument names. It also runs in versions of
// PHP that are too old, with functions that are disabled, and without the extension.
error_reporting(0);
$spindle_doctor = $argv[1];

function spindle_doctor_info($print)
{
    ob_start();
    try {
        $print();
    } catch (Throwable $disabled) {
    }
    return (string) ob_get_clean();
}

$facts = array(
    'version' => PHP_VERSION,
    'version_id' => PHP_VERSION_ID,
    'sapi' => PHP_SAPI,
    'zts' => (bool) PHP_ZTS,
    'debug' => (bool) PHP_DEBUG,
    'binary' => PHP_BINARY,
    'extension_dir' => (string) ini_get('extension_dir'),
    'extensions' => array(),
    'zend_extensions' => get_loaded_extensions(true),
    'spindle' => phpversion('spindle') ?: null,
);
foreach (array('php_ini_loaded_file', 'php_ini_scanned_files') as $function) {
    $facts[$function] = function_exists($function) ? (string) call_user_func($function) : '';
}
foreach (get_loaded_extensions() as $name) {
    $facts['extensions'][strtolower($name)] = (string) phpversion($name);
}
$general = function_exists('phpinfo') ? spindle_doctor_info(function () { phpinfo(INFO_GENERAL); }) : '';
$facts['build'] = preg_match('~^PHP Extension Build => (.*)$~m', $general, $m) ? trim($m[1]) : '';

$facts['opcache'] = array('loaded' => in_array('Zend OPcache', $facts['zend_extensions'], true), 'on' => false, 'jit' => false);
if ($facts['opcache']['loaded'] && function_exists('opcache_get_status')) {
    $status = @opcache_get_status(false);
    $facts['opcache']['on'] = !empty($status['opcache_enabled']);
    $facts['opcache']['jit'] = !empty($status['jit']['on']);
}
$facts['xdebug'] = null;
if (extension_loaded('xdebug')) {
    $mode = function_exists('xdebug_info') ? @xdebug_info('mode') : null;
    $facts['xdebug'] = is_array($mode) ? $mode : explode(',', (string) ini_get('xdebug.mode'));
}
function spindle_doctor_mapped()
{
    $paths = array();
    foreach (explode("\n", (string) @file_get_contents('/proc/self/maps')) as $line) {
        if (preg_match('~^\S+ \S+ \S+ \S+ \S+ +(/.*)$~', $line, $m)) {
            $paths[$m[1]] = true;
        }
    }
    return array_keys($paths);
}
$facts['mapped'] = spindle_doctor_mapped();
$facts['trial'] = null;
$facts['info'] = '';
$save = function ($facts) use ($spindle_doctor) {
    $flags = defined('JSON_INVALID_UTF8_SUBSTITUTE') ? JSON_INVALID_UTF8_SUBSTITUTE : 0;
    file_put_contents($spindle_doctor, json_encode($facts, $flags));
};
$save($facts); // in case that what follows ends the process

if ($facts['spindle'] !== null) {
    try {
        // One waits for what the other one sends: without coroutines this would wait forever.
        if (function_exists('stream_socket_pair')) {
            $pair = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
            $read = function () use ($pair) { return fread($pair[0], 4); };
            $write = function () use ($pair) { fwrite($pair[1], 'ping'); };
        } else {
            $sent = '';
            $read = function () use (&$sent) { while ($sent === '') call_user_func('Async\delay', 1); return $sent; };
            $write = function () use (&$sent) { $sent = 'ping'; };
        }
        $reader = call_user_func('Async\spawn', $read);
        call_user_func('Async\spawn', $write);
        $answer = call_user_func('Async\await', $reader, call_user_func('Async\timeout', 10000));
        $facts['trial'] = $answer === 'ping' ? '' : 'a coroutine has read ' . var_export($answer, true) . " in place of 'ping'";
    } catch (Throwable $failure) {
        $facts['trial'] = get_class($failure) . ': ' . $failure->getMessage();
    }
    $facts['info'] = spindle_doctor_info(function () { (new ReflectionExtension('spindle'))->info(); });
    $facts['mapped'] = spindle_doctor_mapped();
    $save($facts);
}
