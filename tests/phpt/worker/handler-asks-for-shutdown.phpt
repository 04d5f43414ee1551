--TEST--
ERR-3 an exception handler in worker mode that asks for a graceful shutdown ends the server, and is not called again for that failure
--INI--
async.seed=0
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/kit.inc';

foreach (['of the script, too' => '$handler', 'of the request alone' => 'null'] as $name => $of_script) {
    $ended = T\php('require getenv("SPINDLE_ROOT") . "/tests/phpt/worker/worker.inc";
        use Async\Scope;
        $calls = 0;
        $handler = function(Throwable $e) use (&$calls) {
            if (++$calls > 3) { exit(9); }
            echo "handled ", $e->getMessage();
            Async\gracefulShutdown($e);
        };
        set_exception_handler(' . $of_script . ');
        $server = S\worker(function() use ($handler) {
            set_exception_handler($handler);
            throw new DomainException("of the request");
        });
        $clients = new Scope;
        $clients->spawn(function() use ($server, &$calls) { $answer = S\answer($server, "/"); echo "answered: $answer, after $calls call\n"; });
    ');
    $ended = preg_replace(['~ in /\S+~', '~#\d .*\n|Stack trace:\n|  thrown .*\n|\n(?=\n)~', '~(spawned at|by) .*~'], ['', '', '$1'], $ended);
    echo "-- $name: $ended";
}
?>
--EXPECT--
-- of the script, too: [255] 
Fatal error: Uncaught DomainException: of the request
  in coroutine #4, spawned at
  by
answered: none , after 1 call
-- of the request alone: [255] 
Fatal error: Uncaught DomainException: of the request
  in coroutine #4, spawned at
  by
answered: none , after 1 call
