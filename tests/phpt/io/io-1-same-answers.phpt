--TEST--
IO-1 blocking calls give inside a coroutine what they give outside: values, errno texts, partial reads, timeouts, positions
--EXTENSIONS--
posix
--FILE--
<?php
require __DIR__ . '/kit.inc';
T\without_deprecations();
T\work_in(['text' => "one\ntwo\nthree", 'csv' => "a,b\n\"c d\",e\n", 'ini' => "[s]\nk = v\n"]);
[$closed, $refused] = T\listener();
fclose($closed);

T\same_inside([
    'file functions' => fn($n) => [file_get_contents('text'), file_get_contents('text', false, null, 2, 3), file('text', FILE_IGNORE_NEW_LINES), md5_file('text'), parse_ini_file('ini', true), copy('text', "copy$n"), file_get_contents("copy$n"), filesize("copy$n"), rename("copy$n", 'moved'), unlink('moved')],
    'a handle' => function($n) {
        $f = fopen("handle$n", 'w+');
        $out = [fwrite($f, "line 1\nline 2\nrest"), rewind($f), fgets($f), ftell($f), fread($f, 4), fseek($f, -4, SEEK_END), stream_get_contents($f), feof($f), ftruncate($f, 6), fflush($f), fsync($f), fdatasync($f), fstat($f)['size'], fseek($f, 0), fgetc($f), fgets($f), fgets($f), flock($f, LOCK_EX), flock($f, LOCK_UN)];
        fclose($f);
        return $out;
    },
    'append and lock' => fn($n) => [file_put_contents("app$n", 'a', FILE_APPEND | LOCK_EX), file_put_contents("app$n", ['b', 'c'], FILE_APPEND), file_get_contents("app$n")],
    'csv' => function() { $f = fopen('csv', 'r'); $rows = []; while ($row = fgetcsv($f)) $rows[] = $row; return $rows; },
    'SplFileObject' => fn() => iterator_to_array(new SplFileObject('text')),
    'missing file' => fn() => [@file_get_contents('missing'), error_get_last()['message'], @fopen('missing/x', 'r'), error_get_last()['message'], @file_put_contents('/proc/none', 'x'), error_get_last()['message']],
    'a directory' => fn() => [@file_get_contents('.'), preg_replace('/\d+ bytes/', 'N bytes', error_get_last()['message'] ?? ''), count(scandir('.')) > 2, is_array(glob('*'))],
    'no permission or full' => fn() => [@file_put_contents('/dev/full', 'x'), preg_replace('/\d+/', 'N', error_get_last()['message'] ?? '')],
    'refused' => fn() => [@stream_socket_client($refused, $errno, $error, 2), $errno, $error],
    'no such socket' => fn() => [@stream_socket_client('unix://no/such', $errno, $error, 2), $errno, $error],
    'bad name' => fn() => [@stream_socket_client('tcp://127.0.0.1:99999', $errno, $error, 1), $errno > 0],
    'a stream times out' => function() {
        [$a, $b] = T\pair();
        stream_set_timeout($a, 0, 30_000);
        $start = hrtime(true);
        $out = [fgets($a), stream_get_meta_data($a)['timed_out'], T\ms($start) >= 30, feof($a)];
        fwrite($b, "x\n");
        return [...$out, fgets($a), stream_get_meta_data($a)['timed_out']];
    },
    'partial reads' => function() {
        [$a, $b] = T\pair();
        fwrite($b, 'abcdef');
        $out = [fread($a, 4), fread($a, 2)];
        fwrite($b, "x\ny");
        fclose($b);
        return [...$out, fgets($a), fgets($a), fgets($a), feof($a), fread($a, 10)];
    },
    'the other end is gone' => function() {
        [$a, $b] = T\pair();
        fclose($b);
        return [fread($a, 10), feof($a), @fwrite($a, 'x'), preg_replace('/^\w+\(\): /', '', error_get_last()['message'])];
    },
    'not blocking' => function() {
        [$a, $b] = T\pair();
        stream_set_blocking($a, false);
        $out = [fread($a, 10), fgets($a), feof($a)];
        $n = 0;
        do { $n += $w = fwrite($a, str_repeat('x', 100_000)); } while ($w);
        return [...$out, $n > 10_000, strlen(fread($b, 8192)) > 0];
    },
    'select' => function() {
        [$a, $b] = T\pair();
        $r = [$a, 'k' => $b]; $w = [5 => $a]; $x = [$a];
        fwrite($b, 'x');
        $out = [stream_select($r, $w, $x, 1), array_keys($r), array_keys($w), $x];
        fread($a, 1);
        $r = [$a]; $w = $x = null;
        $start = hrtime(true);
        return [...$out, stream_select($r, $w, $x, 0, 20_000), $r, T\ms($start) >= 20];
    },
    'exit statuses' => function() {
        exec('echo a; echo b; exit 3', $lines, $status);
        ob_start();
        $last = system('echo s; exit 4', $status2);
        passthru('printf p; exit 5', $status3);
        $shown = ob_get_clean();
        $p = popen('cat > /dev/null; exit 6', 'w');
        fwrite($p, 'x');
        return [$lines, $status, $last, $status2, $status3, $shown, pclose($p), shell_exec('true'), proc_close(proc_open('kill -9 $$', [], $pipes)) ];
    },
    'names' => fn() => [gethostbyname('127.0.0.1'), gethostbyname('localhost'), gethostbynamel('localhost'), @gethostbyaddr('no address'), posix_getpwuid(0)['name'], posix_getgrgid(0)['name'], posix_getpwnam('root')['uid']],
    'sleeps' => fn() => [sleep(0), usleep(0), time_nanosleep(0, 1000), @time_sleep_until(1.0)],
]);
foreach (['sleep', 'usleep'] as $f) {
    try { Async\await(Async\spawn($f, -1)); } catch (ValueError $e) { echo $e->getMessage(), "\n"; }
}
?>
--EXPECT--
file functions: yes
a handle: yes
append and lock: yes
csv: yes
SplFileObject: yes
missing file: yes
a directory: yes
no permission or full: yes
refused: yes
no such socket: yes
bad name: yes
a stream times out: yes
partial reads: yes
the other end is gone: yes
not blocking: yes
select: yes
exit statuses: yes
names: yes
sleeps: yes
sleep(): Argument #1 ($seconds) must be greater than or equal to 0
usleep(): Argument #1 ($microseconds) must be greater than or equal to 0
