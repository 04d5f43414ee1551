--TEST--
H6 while a stream wrapper of the program opens what is included, others may open what may not be included, and the same
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';

final class Source
{
    public static bool $goes_on = false;
    public $context;
    private string $text = '<?php return "included";';
    public function stream_open($path, $mode, $options, &$opened)
    {
        while (!self::$goes_on) suspend();
        return true;
    }
    public function stream_read($count) { $text = $this->text; $this->text = ''; return $text; }
    public function stream_eof() { return $this->text === ''; }
    public function stream_stat() { return ['size' => strlen($this->text)]; }
    public function stream_set_option($option, $a, $b) { return false; }
    public function stream_close() {}
}
stream_wrapper_register('source', Source::class);

$parked = false;
$beside = spawn(function() use (&$parked) {
    while (!$parked) suspend();
    return file_get_contents('data:,opened');
});
T\begun($beside);
$includes = spawn(fn() => include_once 'source://x');
T\begun($includes);
$parked = true;
$same = spawn(fn() => file_get_contents('source://x'));
T\begun($same);
echo await($beside), "\n";
Source::$goes_on = true;
echo await($includes), ' ', await($same), "\n";
?>
--EXPECT--
opened
included <?php return "included";
