--TEST--
H3 nobody else runs below a compilation or a collection of cycles, whatever PHP code they call
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';

$steps = 0;
$others = spawn(function() use (&$steps) { while ($steps >= 0) { $steps++; suspend(); } });
/** Has anybody run while this was suspended? */
function left(): bool
{
    $before = $GLOBALS['steps'];
    for ($i = 0; $i < 100 && $GLOBALS['steps'] === $before; $i++) suspend();
    return $GLOBALS['steps'] !== $before;
}
$left = [];
final class Source
{
    public $context;
    private string $text = '<?php return 1;';
    public function stream_open($path, $mode, $options, &$opened) { $GLOBALS['left']['opened'] = left(); return true; }
    public function stream_read($count) { $GLOBALS['left']['read'] = left(); $text = $this->text; $this->text = ''; return $text; }
    public function stream_eof() { return $this->text === ''; }
    public function stream_stat() { return ['size' => strlen($this->text)]; }
    public function stream_set_option($option, $a, $b) { return false; }
    public function stream_close() {}
}
stream_wrapper_register('source', Source::class);
final class Cycle
{
    public ?Cycle $self = null;
    public function __destruct() { $GLOBALS['left']['collected'] = left(); }
}
await(spawn(function() use (&$left) {
    $left['here'] = left();
    include 'source://x';
    set_error_handler(function() use (&$left) { $left['compiled'] = left(); return true; });
    eval('function deprecated($a = 1, $b) {}');
    restore_error_handler();
    $cycle = new Cycle;
    $cycle->self = $cycle;
    $cycle = null;
    gc_collect_cycles();
}));
$steps = -1;
await($others);
echo json_encode($left), "\n";
?>
--EXPECT--
{"here":true,"opened":false,"read":false,"compiled":false,"collected":false}
