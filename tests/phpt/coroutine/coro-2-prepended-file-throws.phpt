--TEST--
CORO-2 after an exception in a prepended file, or in the script, no further file runs, as in stock PHP
--FILE--
<?php
require __DIR__ . '/kit.inc';

T\work_in([
    'throws.php' => '<?php Async\spawn(fn() => print("coroutine\n")); throw new LogicException("of the prepended file");',
    'awaits.php' => '<?php Async\await(Async\spawn(fn() => throw new LogicException("of a coroutine")));',
    'handles.php' => '<?php set_exception_handler(fn($e) => print("handled: {$e->getMessage()}\n")); Async\spawn(fn() => 1); throw new LogicException("of the prepended file");',
    'before.php' => '<?php Async\spawn(fn() => 1);',
    'after.php' => '<?php echo "WRONG: the appended file runs\n";',
]);
foreach (['throws', 'awaits', 'handles'] as $file) {
    $ran = T\php('echo "WRONG: the script runs\n";', '-d auto_prepend_file=' . getcwd() . "/$file.php");
    echo "$file: $ran->status\n";
    if ($ran->has('WRONG')) echo $ran->output;
    echo preg_match('/Uncaught LogicException: .*(?= in)|handled.*/', $ran->output, $found) ? "$found[0]\n" : $ran->output;
}
$ran = T\php('throw new LogicException("of the script");',
    '-d auto_prepend_file=' . getcwd() . '/before.php -d auto_append_file=' . getcwd() . '/after.php');
echo "script: $ran->status\n";
if ($ran->has('WRONG')) echo $ran->output;
?>
--EXPECT--
throws: 255
Uncaught LogicException: of the prepended file
awaits: 255
Uncaught LogicException: of a coroutine
handles: 255
handled: of the prepended file
script: 255
