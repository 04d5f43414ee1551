--TEST--
IO-11 what one coroutine writes to a pipe or a socket is not torn by what others write to it
--FILE--
<?php
require __DIR__ . '/kit.inc';

$begin = <<<'PHP'
    use function Async\{delay, spawn, suspend};
    /** Eight coroutines that write ten lines each, of one letter, longer than what a pipe or a socket has room for. */
    function lines(Closure $write): void {
        foreach (range('a', 'h') as $letter) {
            spawn(function () use ($letter, $write) {
                for ($i = 0; $i < 10; $i++) { $write(str_repeat($letter, 90_000)); suspend(); }
            });
        }
    }
    PHP;
$ways = [
    'echo, in two parts' => 'lines(function ($line) { echo $line, "\n"; });',
    'print and printf' => 'lines(function ($line) { print $line; printf("%s", "\n"); });',
    'echo and fwrite' => 'lines(function ($line) { ord($line[0]) % 2 ? print("$line\n") : fwrite(STDOUT, "$line\n"); });',
    'a stream for each' => 'lines(function ($line) { static $own = []; $own[$line[0]] ??= fopen("php://stdout", "w"); fwrite($own[$line[0]], "$line\n"); });',
    'standard error on it' => 'lines(function ($line) { fwrite(ord($line[0]) % 2 ? STDERR : STDOUT, "$line\n"); });',
    'not blocking' => 'stream_set_blocking(STDOUT, false); lines(function ($line) { echo $line, "\n"; });',
];
foreach ($ways as $way => $code) {
    // Streams on sockets write by calls that do not block, and only one stream's are in one turn.
    foreach (str_contains($code, 'fwrite') ? ['pipe'] : ['pipe', 'socket'] as $kind) {
        $file = tempnam(sys_get_temp_dir(), 'io-11');
        file_put_contents($file, "<?php\n$begin\n$code");
        $process = proc_open(T\interpreter('-d output_buffering=0') . " $file", [['file', '/dev/null', 'r'], [$kind, 'w'], ['redirect', 1]], $pipes);
        $rest = '';
        $lines = $torn = 0;
        while (($data = fread($pipes[1], 5000)) !== false && $data !== '') {
            $rest .= $data;
            while (($end = strpos($rest, "\n")) !== false) {
                $line = substr($rest, 0, $end);
                $rest = substr($rest, $end + 1);
                $lines++;
                $torn += $line !== str_repeat($line[0] ?? '', 90_000) ? 1 : 0;
            }
        }
        proc_close($process);
        unlink($file);
        echo "$way, $kind: $lines lines, $torn torn", $rest === '' ? '' : ', and ' . strlen($rest) . ' bytes', "\n";
    }
}
?>
--EXPECT--
echo, in two parts, pipe: 80 lines, 0 torn
echo, in two parts, socket: 80 lines, 0 torn
print and printf, pipe: 80 lines, 0 torn
print and printf, socket: 80 lines, 0 torn
echo and fwrite, pipe: 80 lines, 0 torn
a stream for each, pipe: 80 lines, 0 torn
standard error on it, pipe: 80 lines, 0 torn
not blocking, pipe: 80 lines, 0 torn
not blocking, socket: 80 lines, 0 torn
