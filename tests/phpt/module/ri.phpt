--TEST--
php --ri spindle: version, state, reactor back end, stack size, interposed calls and libraries, settings
--FILE--
<?php
require __DIR__ . '/kit.inc';

$ended = T\command(T\interpreter() . ' --ri spindle');
var_dump($ended->status);
$facts = [];
foreach (explode("\n", $ended->output) as $line) {
    $parts = array_map('trim', explode('=>', $line));
    if (count($parts) > 1) $facts[strtolower($parts[0])] = $parts[1];
}
$find = function(string $pattern) use ($facts) {
    foreach ($facts as $name => $value) if (preg_match($pattern, $name)) return $value;
    return null;
};
T\check('version', preg_match('/^\d+\.\d+\.\d+/', (string) $find('/version/')), $facts);
T\check('the version of the module', $find('/version/') === phpversion('spindle'), phpversion('spindle'));
preg_match('/^\[workspace\.package\]\nversion = "(.+)"$/m', file_get_contents(getenv('SPINDLE_ROOT') . '/Cargo.toml'), $workspace);
T\check('the version of the workspace', phpversion('spindle') === $workspace[1], $workspace);
T\check('state', (string) $find('/state|spindle$|support/') !== '', $facts);
T\check('reactor', preg_match('/epoll/i', (string) $find('/reactor/')), $facts);
$size = trim(shell_exec('ulimit -s'));
$size = is_numeric($size) ? min(max($size * 1024, 256 << 10), 64 << 20) : 64 << 20;
T\check('stack size', $find('/stack.?size/') === "$size bytes", [$size, $facts]);
T\check('interposed', $find('/interposed.*(call|function)|(call|function)s? interposed/') !== null || $find('/interposed/') !== null, $facts);
T\check('libraries', $find('/librar|object/') !== null, $facts);
T\check('settings', isset($facts['async.stack_size']), array_keys($facts));
?>
--EXPECT--
int(0)
version: yes
the version of the module: yes
the version of the workspace: yes
state: yes
reactor: yes
stack size: yes
interposed: yes
libraries: yes
settings: yes
