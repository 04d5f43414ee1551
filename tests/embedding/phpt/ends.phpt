--TEST--
exit, fatal errors and panics in and around bodies end the request, and the process, in order
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/kit.inc';

$begin = 'use function Embedding\{channel, in_coroutine, receive, send, sleeper, panic_in_body};
Embedding\report_at_end();
register_shutdown_function(function () { echo "shutdown\n"; });
';
// The coroutine that exits returns, the one that sleeps does not.
echo T\php($begin . '
sleeper(1_000_000);
in_coroutine(function () { echo "exits\n"; exit(3); });
Async\spawn(function () { echo "not run\n"; });
Async\delay(1_000_000);
echo "not reached\n";
'), "\n";

// A body that is left by an exit may still cancel its child, which does not run again.
echo T\php($begin . '
Embedding\with_child(function () { echo "exits\n"; exit(5); });
Async\delay(1_000_000);
echo "not reached\n";
'), "\n";

// The script waits in Rust code.
echo T\php($begin . '
Async\spawn(function () { echo "exits\n"; exit(4); });
receive(channel());
echo "not reached\n";
'), "\n";

// A fatal error is no exception: nothing returns.
echo preg_replace(['~ in /.* on line \d+~', '~redeclare class A \(previously declared~'], ['', 'declare class A, because the name is already in use'], T\php($begin . '
in_coroutine(function () { eval("class A {} class A {}"); });
Async\delay(1_000_000);
echo "not reached\n";
', '-d display_errors=1 -d log_errors=0 -d html_errors=0')), "\n";

$panicked = T\php($begin . '
panic_in_body();
echo "before\n";
Async\delay(1_000_000);
echo "not reached\n";
');
echo $panicked->status === 128 + 6 ? 'aborted' : (string) $panicked, $panicked->has('before', 'a bug in a body', 'misuse.rs') ? ', with its message' : '',
    $panicked->has('not reached') || $panicked->has('request end') ? ', and went on' : '', "\n";
--EXPECT--
[3] exits
shutdown
request end: 1 dropped

[5] exits
shutdown
request end: 0 dropped

[4] exits
shutdown
request end: 0 dropped

[255] 
Fatal error: Cannot declare class A, because the name is already in use
shutdown
request end: 0 dropped

aborted, with its message
