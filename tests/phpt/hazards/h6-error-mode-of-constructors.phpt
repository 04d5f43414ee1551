--TEST--
H6 a constructor that blocks with "errors become exceptions" set does not make other coroutines' errors exceptions
--EXTENSIONS--
posix
--FILE--
<?php
use function Async\{delay, spawn};

require __DIR__ . '/kit.inc';
T\work_in();
posix_mkfifo('fifo', 0600);

$constructing = spawn(function() {
    $f = new SplFileObject('fifo', 'r');
    return $f->fgets();
});
T\parked($constructing);
$others = [
    'file' => spawn(fn() => @file_get_contents('missing')),
    'warning' => spawn(function() { set_error_handler(function($l, $text) use (&$handled) { $handled = $text; return true; }); return [file_get_contents('missing too'), $handled]; }),
    'socket' => spawn(fn() => @stream_socket_client('unix://missing')),
    'directory' => spawn(fn() => @opendir('missing')),
];
foreach ($others as $name => $c) {
    $e = T\failure($c);
    echo "$name: ", $e ? get_class($e) . ' ' . $e->getMessage() : json_encode($c->getResult()), "\n";
}
$f = fopen('fifo', 'w');
fwrite($f, "a line\n");
echo Async\await($constructing);

// and the other way round: whoever fails in a constructor still gets the exception, after others have run
$e = T\failure(spawn(function() {
    spawn(fn() => delay(1));
    return new SplFileObject('missing');
}));
echo get_class($e), "\n";
?>
--EXPECT--
file: false
warning: [false,"file_get_contents(missing too): Failed to open stream: No such file or directory"]
socket: false
directory: false
a line
RuntimeException
