--TEST--
SLOT-4 in a forked child values of the other coroutines' contexts are not released; one's own are
--EXTENSIONS--
pcntl
--FILE--
<?php
require __DIR__ . '/kit.inc';

foreach (['the script' => '%s', 'a coroutine' => 'await(spawn(function() { localContext()->set("x", new D("own")); delay(2); %s }));'] as $where => $form) {
    $code = sprintf($form, 'if (pcntl_fork() === 0) { define("CHILD", 1); return; } pcntl_wait($status);');
    $ended = T\php(<<<PHP
        use function Async\{await, delay, localContext, spawn};
        final class D { function __construct(private string \$n) {} function __destruct() { echo \$this->n . (defined('CHILD') ? ' in the child' : '') . "\n"; } }
        spawn(function() { localContext()->set('d', new D('of another'))->set(\$GLOBALS['key'] = new stdClass, new D('by a key')); delay(60); });
        localContext()->set('m', new D('main'));
        delay(2);
        $code
        PHP);
    $lines = explode("\n", trim($ended->output));
    sort($lines);
    echo "--- $where: $ended->status\n", implode("\n", $lines), "\n";
}
?>
--EXPECT--
--- the script: 0
by a key
main
main in the child
of another
--- a coroutine: 0
by a key
main
of another
own
own in the child
