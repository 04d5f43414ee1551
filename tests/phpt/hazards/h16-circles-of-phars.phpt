--TEST--
H16 a phar that its own coroutine waits for: what reads from it or includes from it is refused with an error
--EXTENSIONS--
phar
--INI--
phar.readonly=0
--FILE--
<?php
use function Async\{await, spawn};

require __DIR__ . '/kit.inc';

T\work_in();
$phar = new Phar('a.phar');
$phar['code.php'] = "<?php return 'included';";
$ways = [
    'include' => fn() => include 'phar://a.phar/code.php',
    'file_get_contents' => fn() => @file_get_contents('phar://a.phar/code.php'),
    'is_file' => fn() => is_file('phar://a.phar/code.php'),
];
foreach ($ways as $name => $way) {
    $files = (function() use ($name, $way) {
        try {
            var_dump(await(spawn($way)));
        } catch (Async\AsyncException $e) {
            echo "$name: ", preg_replace('/#\d+/', '#N', $e->getMessage()), "\n";
        }
        yield 'b' => __FILE__;
    })();
    await(spawn(fn() => (new Phar("b-$name.phar"))->buildFromIterator($files)));
}
foreach ($ways as $way) echo $way(), "\n";
?>
--EXPECT--
include: a call would deadlock: coroutine #N is in the middle of Phar::buildFromIterator() and waits for this one
file_get_contents: a call would deadlock: coroutine #N is in the middle of Phar::buildFromIterator() and waits for this one
is_file: a call would deadlock: coroutine #N is in the middle of Phar::buildFromIterator() and waits for this one
included
<?php return 'included';
1
