--TEST--
SYN-1 one place of the source spawns many functions: each takes its arguments by its own names and references, compiled by the JIT too
--FILE--
<?php
require __DIR__ . '/kit.inc';

$code = <<<'PHP'
    function ab($a, $b) { return [$a, $b]; }
    function ba($b, $a) { return [$a, $b]; }
    function reference($b, &$a) { $old = $a; $a .= '!'; return [$old, $b]; }
    function references(&$b, &$a) { $old = [$a, $b]; $a .= '!'; $b .= '!'; return $old; }
    function collects(...$all) { return [$all['a'], $all['b']]; }
    function collects_references(&...$all) { $old = [$all['a'], $all['b']]; $all['a'] .= '!'; $all['b'] .= '!'; return $old; }
    function defaults($x = 1, $b = 2, $y = 3, $a = 4) { return [$a, $b]; }
    class M { function ba($b, $a) { return [$a, $b]; } static function ab($a, $b) { return [$a, $b]; } function __call($n, $all) { return [$all['a'], $all['b']]; } function __invoke($z = 0, &$b = null, $a = null) { $old = $b; $b .= '!'; return [$a, $old]; } }
    $callees = ['ab' => '', 'ba' => '', 'reference' => 'a', 'references' => 'ab', 'collects' => '', 'collects_references' => 'ab', 'defaults' => ''];
    $others = [[[new M, 'ba'], ''], ['M::ab', ''], [[new M, 'no_such'], ''], [new M, 'b'], [fn($b, $a) => [$a, $b], ''], [fn($a, $b) => [$a, $b], ''], [ba(...), ''], [reference(...), 'a']];
    foreach ($callees as $name => $changes) $others[] = [$name, $changes];
    function task($callee, &$a, &$b) { return await spawn $callee(b: $b, a: $a); }
    function check($callee, $changes) {
        static $n = 0;
        $n++;
        $a = "a$n"; $b = "b$n";
        if (task($callee, $a, $b) !== ["a$n", "b$n"]) return 1;
        return $a !== "a$n" . (str_contains($changes, 'a') ? '!' : '') || $b !== "b$n" . (str_contains($changes, 'b') ? '!' : '') ? 1 : 0;
    }
    $wrong = $gone = 0;
    for ($i = 0; $i < 300; $i++) foreach ($others as [$callee, $changes]) $wrong += check($callee, $changes);
    // functions that are gone leave their place in memory to others
    mt_srand(5);
    for ($i = 0; $i < 1500; $i++) {
        $parameters = [['$a', '&$a'][mt_rand(0, 1)], ['$b', '&$b'][mt_rand(0, 1)]];
        $changes = preg_replace('~\$.|[^ab]~', '', strtr(implode($parameters), ['&$a' => 'a', '&$b' => 'b']));
        if (mt_rand(0, 1)) $parameters = array_reverse($parameters);
        $callee = eval('return function(' . implode(', ', $parameters) . ') { $old = [$a, $b]; $a .= "!"; $b .= "!"; return $old; };');
        $gone += check($callee, $changes);
        unset($callee);
    }
    echo "$wrong wrong, $gone of those that are gone, jit ", (function_exists('opcache_get_status') && (opcache_get_status(false)['jit']['on'] ?? false)) ? 'on' : 'off', "\n";
    PHP;
echo T\php($code, '-d opcache.enable_cli=0');
if (!extension_loaded('Zend OPcache')) die(str_repeat("[0] 0 wrong, 0 of those that are gone, jit on\n", 2));
foreach (['tracing', 'function'] as $jit) {
    echo T\php($code, "-d opcache.enable_cli=1 -d opcache.jit_buffer_size=32M -d opcache.jit=$jit");
}
?>
--EXPECT--
[0] 0 wrong, 0 of those that are gone, jit off
[0] 0 wrong, 0 of those that are gone, jit on
[0] 0 wrong, 0 of those that are gone, jit on
