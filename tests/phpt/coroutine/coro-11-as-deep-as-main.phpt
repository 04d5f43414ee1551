--TEST--
CORO-11 what goes deep over the C stack goes as deep in a coroutine as in the script, whatever ulimit -s says
--FILE--
<?php
require __DIR__ . '/kit.inc';

$chain = 'class Link { public $next; } $o = null; for ($i = 0; $i < DEPTH; $i++) { $l = new Link; $l->next = $o; $o = $l; } unset($l);';
$cases = [
    'serialize' => "$chain \$task = fn() => strlen(serialize(\$o)) > 0;",
    'json_encode' => '$a = []; for ($i = 0; $i < DEPTH; $i++) $a = [$a]; $task = fn() => strlen(json_encode($a, 0, PHP_INT_MAX >> 33)) > 0;',
    'freeing a chain' => "\$task = function() { $chain \$o = null; return true; };",
    'array_map' => 'function f($n) { return $n ? array_map("f", [$n - 1])[0] : true; } $task = fn() => f(DEPTH);',
    '__get' => 'class F { public $n; function __get($k) { return --$this->n ? $this->{$k . "x"} : true; } } $task = function() { $f = new F; $f->n = DEPTH; return $f->a; };',
];
$fine = function(string $code, int $depth, string $size, string $call): bool {
    // killed, because what is left would be freed as deeply
    $code = str_replace('DEPTH', (string) $depth, $code) . " echo $call ? 'fine' : 'wrong'; posix_kill(getmypid(), SIGKILL);";
    T\work_in(['deep.php' => "<?php $code"]);
    return T\command("sh -c " . escapeshellarg("ulimit -s $size; exec " . T\interpreter('-d memory_limit=-1') . ' deep.php'))->has('fine');
};
foreach (['serialize 8192', 'json_encode 8192', 'freeing a chain 8192', 'array_map 8192', '__get 8192', 'array_map 3000', '__get 3000'] as $what) {
    preg_match('~(.*) (.*)~', $what, $m);
    [, $name, $size] = $m;
    // the greatest depth of the script, to a twelfth
    for ($depth = (int) ($size / 4); $fine($cases[$name], $depth * 2, $size, '$task()'); $depth *= 2);
    for ($step = intdiv($depth, 2); $step > $depth / 12; $step = intdiv($step, 2)) {
        $fine($cases[$name], $depth + $step, $size, '$task()') and $depth += $step;
    }
    T\check($what, $fine($cases[$name], $depth, $size, 'Async\await(Async\spawn($task))'), $depth);
}
?>
--EXPECT--
serialize 8192: yes
json_encode 8192: yes
freeing a chain 8192: yes
array_map 8192: yes
__get 8192: yes
array_map 3000: yes
__get 3000: yes
