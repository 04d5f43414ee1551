--TEST--
H6 constructors that turn errors into exceptions of their own do so for themselves, also while others wait in theirs
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';

final class Refusing
{
    public static array $goes_on = [];
    public $context;
    private function waits(string $path): bool
    {
        while (!isset(self::$goes_on[$path])) suspend();
        return false;
    }
    public function stream_open($path, $mode, $options, &$opened) { return $this->waits($path); }
    public function dir_opendir($path, $options) { return $this->waits($path); }
}
stream_wrapper_register('refusing', Refusing::class);

$file = spawn(fn() => new SplFileObject('refusing://file'));
$directory = spawn(fn() => new DirectoryIterator('refusing://directory'));
$beside = spawn(function() {
    while (!isset(Refusing::$goes_on['beside'])) suspend();
    return @file_get_contents('missing');
});
T\begun($file, $directory, $beside);
Refusing::$goes_on['beside'] = true;
echo json_encode(await($beside)), "\n";
foreach (['file' => $file, 'directory' => $directory] as $name => $c) {
    Refusing::$goes_on["refusing://$name"] = true;
    echo get_class(T\failure($c)), "\n";
}
?>
--EXPECT--
false
RuntimeException
UnexpectedValueException
