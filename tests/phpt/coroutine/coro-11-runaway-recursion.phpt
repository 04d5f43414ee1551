--TEST--
CORO-11 recursion without end ends in an error of PHP and status 255, never in a segmentation fault
--FILE--
<?php
require __DIR__ . '/kit.inc';

$recursions = [
    'array_map' => 'function f($n) { return array_map("f", [$n + 1]); } $task = fn() => f(0);',
    'usort' => 'function f() { $a = [2, 1]; usort($a, fn() => f()); } $task = "f";',
    'preg_replace_callback' => 'function f() { return preg_replace_callback("/x/", fn() => f(), "x"); } $task = "f";',
    '__get' => 'class F { function __get($n) { return $this->{$n . "x"}; } } $task = fn() => (new F)->a;',
    '__toString' => 'class F { function __toString(): string { return "x" . new F; } } $task = fn() => "" . new F;',
    'destructor' => 'class F { function __destruct() { new F; } } $task = function() { new F; };',
    'count' => 'class F implements Countable { function count(): int { return count(new F); } } $task = fn() => count(new F);',
    'var_export' => '$a = []; for ($i = 0; $i < 20_000; $i++) $a = [$a]; $task = fn() => var_export($a, true);',
    'unserialize' => 'ini_set("unserialize_max_depth", 0); $s = str_repeat("a:1:{i:0;", 50_000) . "i:1;" . str_repeat("}", 50_000); $task = fn() => unserialize($s);',
    'eval' => '$s = "return \$x" . str_repeat("+1", 60_000) . ";"; $task = fn() => eval($s);',
    'plain calls' => 'function f($n) { return f($n + 1); } $task = fn() => f(0);',
];
foreach ($recursions as $name => $code) {
    // what recurses in C alone would fill the memory first
    $options = in_array($name, ['var_export', 'unserialize', 'eval']) ? '-d async.stack_size=256K' : '';
    $ended = T\php(<<<PHP
        $code
        register_shutdown_function(function() { echo "shutdown function\\n"; });
        Async\spawn(function() { Async\delay(600_000); echo "not reached\\n"; });
        echo "before\\n";
        Async\await(Async\spawn(\$task));
        echo "after\\n";
        PHP, $options);
    $ok = $ended->status === 255 && preg_match('/error/i', $ended->output) && $ended->has("before\n", "shutdown function\n")
        && !$ended->has("after\n") && !$ended->has("not reached\n");
    T\check($name, $ok, substr($ended, 0, 300));
}
?>
--EXPECT--
array_map: yes
usort: yes
preg_replace_callback: yes
__get: yes
__toString: yes
destructor: yes
count: yes
var_export: yes
unserialize: yes
eval: yes
plain calls: yes
