--TEST--
CORO-6 IO-9 a class that an autoloader makes with class_alias() is made once, and is there for each that wants it
--FILE--
<?php
use function Async\spawn;

require __DIR__ . '/kit.inc';
T\work_in(['Known.php' => '<?php class Known {}']);
$made = 0;
spl_autoload_register(function(string $class) use (&$made) {
    usleep(1000);
    if ($class === 'Short') {
        $made++;
        class_alias('Known', 'Short');
    } elseif (is_file("$class.php")) {
        require "$class.php";
    }
});
$jobs = [];
for ($i = 0; $i < 9; $i++) $jobs[] = spawn([fn() => class_exists('Short'), fn() => (new Short) instanceof Known, fn() => Short::class][$i % 3]);
echo json_encode(T\all($jobs)), ", made: $made\n";
?>
--EXPECT--
[true,true,"Short",true,true,"Short",true,true,"Short"], made: 1
