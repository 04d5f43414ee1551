--TEST--
What is released with a request has destructors that may wait
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/server.inc';

use function Async\{currentScope, delay, spawn};
use function Async\Http\currentRequest;

$released = new Async\Channel(4);
final class Waits
{
    public function __construct(private string $name, private Async\Channel $to) {}

    public function __destruct()
    {
        delay(1);
        $this->to->send($this->name);
    }
}
$map = new WeakMap();
$reference = null;
$server = S\serve(function (Async\Http\Request $r) use ($released, $map, &$reference) {
    match ($r->path()) {
        '/attribute' => $r->set('a', new Waits('attribute', $released)),
        '/map' => $map[$r] = new Waits('value of a map', $released),
        '/scope' => currentScope()->set('a', new Waits('value of a scope', $released)),
        '/callback' => currentScope()->finally(fn() => $released->send('callback for ' . (currentRequest()?->path() ?? 'none'))),
        '/reference' => $reference = WeakReference::create($r),
    };
    return $r->path();
});
foreach (['/attribute', '/map', '/scope', '/callback'] as $path) {
    echo S\get($server, $path), ': ', $released->recv(), "\n";
}
echo S\get($server, '/reference'), ': ';
while ($reference->get() !== null) {
    delay(1);
}
echo "released\n";
$server->stop();
?>
--EXPECT--
/attribute: attribute
/map: value of a map
/scope: value of a scope
/callback: callback for /callback
/reference: released
