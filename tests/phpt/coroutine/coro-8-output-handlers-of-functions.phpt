--TEST--
CORO-8 print_r(..., true), highlight_string(..., true) and friends, which buffer inside, are not caught by others
--FILE--
<?php
use function Async\{spawn, suspend};

require __DIR__ . '/kit.inc';

final class Shown
{
    public function __construct(private string $name) {}
    public function __debugInfo()
    {
        suspend();
        return ['name' => $this->name];
    }
}
$jobs = [];
foreach (['a', 'b', 'c', 'd'] as $name) {
    $jobs[$name] = spawn(function() use ($name) {
        $text = preg_replace('/\s+/', ' ', print_r([new Shown($name), new Shown($name . $name)], true));
        ob_start();
        var_dump(new Shown($name));
        echo highlight_string("<?php $name", true);
        suspend();
        $dump = strip_tags(preg_replace('/#\d+|\s+/', ' ', ob_get_clean()));
        return "$text | $dump";
    });
}
foreach (T\all($jobs) as $name => $text) {
    T\check($name, substr_count($text, $name) >= 5 && !preg_match('/\b(?!' . $name . ')[a-d]{1,2}\b/', $text), $text);
}
?>
--EXPECT--
a: yes
b: yes
c: yes
d: yes
