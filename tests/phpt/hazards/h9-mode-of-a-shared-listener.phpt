--TEST--
H9 a listener that another process may have too is never out of blocking mode, not for a moment
--FILE--
<?php
use function Async\{await, spawn};

require __DIR__ . '/kit.inc';

[$server, $address] = T\listener();
$inode = fstat($server)['ino'];
foreach (glob('/proc/self/fd/*') as $fd) if (@readlink($fd) === "socket:[$inode]") $number = basename($fd);
// Coroutines are there already: a worker that is forked before the first one is another matter.
await(spawn(fn() => 1));
$watcher = new T\Side(<<<'PHP'
    $text = file_get_contents($argv[1]);
    stream_set_blocking(STDIN, false);
    echo "looks\n";
    $seen = 'never';
    for ($looks = 1; $looks % 256 || fgets(STDIN) === false && !feof(STDIN); $looks++) {
        if (file_get_contents($argv[1]) !== $text) $seen = 'seen';
    }
    echo "$seen\n";
    PHP, '/proc/' . getmypid() . "/fdinfo/$number");
echo $watcher->hear(), "\n";
$accepts = spawn(function() use ($server) {
    for ($i = 0; $i < 300; $i++) fclose(stream_socket_accept($server, 20));
});
$connects = spawn(function() use ($address) {
    for ($i = 0; $i < 300; $i++) fclose(stream_socket_client($address, $code, $message, 20));
});
T\all([$accepts, $connects]);
$watcher->say('enough');
echo $watcher->hear(), "\n";
$watcher->end();
?>
--EXPECT--
looks
never
