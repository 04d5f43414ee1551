--TEST--
APP-2 time zone, locale, working directory, encoding and display of errors are each request's own, and begin as the boot has left them
--EXTENSIONS--
mbstring
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/server.inc';
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/instances.inc';

use Async\Http\Server;
use function Async\{await, spawn, spawnInstance};

$folder = T\work_in(['x' => 'script']);
foreach (['a', 'b', 'boot', 'deleted'] as $name) {
    mkdir("$folder/$name");
    file_put_contents("$folder/$name/x", $name);
}
/** What code of a request sees of it. */
function seen(): array
{
    return [date_default_timezone_get(), (new DateTime('@0'))->setTimezone(new DateTimeZone(date_default_timezone_get()))->format('H'), ini_get('date.timezone'),
        setlocale(LC_ALL, '0') === 'C' ? 'C' : preg_replace('/^LC_CTYPE=([^;]*).*/', '$1', setlocale(LC_ALL, '0')), basename(getcwd()), trim((string) @file_get_contents('x')),
        mb_internal_encoding(), ini_get('display_errors')];
}
function shown(array $seen): string
{
    return implode(' ', array_map(fn($value) => $value === '' ? '-' : $value, $seen));
}
function change(string $to): void
{
    [$zone, $directory, $encoding, $display] = ['a' => ['Europe/Berlin', 'a', 'ISO-8859-1', '1'], 'b' => ['Asia/Tokyo', 'b', 'SJIS', '0']][$to];
    date_default_timezone_set($zone);
    setlocale(LC_ALL, 'C');
    chdir("$GLOBALS[folder]/$directory");
    mb_internal_encoding($encoding);
    ini_set('display_errors', $display);
}
function handle(): void
{
    $before = shown(seen());
    if (isset($_GET['to'])) {
        change($_GET['to']);
        $changed = seen();
        for ($i = 0; $i < 5; $i++) {
            usleep(random_int(0, 1000));
            if (seen() !== $changed) {
                echo 'wrong: ', shown(seen()), ' for ', shown($changed), '; ';
            }
        }
        echo shown($changed), ' after ';
    }
    echo $before;
}
function answers_of(Server $server): void
{
    $answers = [];
    $clients = [];
    for ($i = 0; $i < 30; $i++) {
        $clients[] = spawn(S\get(...), $server, ['/', '/?to=a', '/?to=b'][$i % 3]);
    }
    foreach ($clients as $client) {
        $answers[await($client)][] = 1;
    }
    ksort($answers);
    foreach ($answers as $answer => $times) {
        echo count($times), ": $answer\n";
    }
}

chdir($folder);
$before = seen();
echo 'script: ', str_replace(basename($folder), 'folder', shown($before)), "\n";
$server = (new Server())->listen('127.0.0.1:0')->worker(handle(...));
$run = spawn($server->run(...));
ob_start(fn(string $text) => str_replace(basename($folder), 'folder', $text));
answers_of($server);
$server->stop();
await($run);

$server = S\application(function (): callable {
    date_default_timezone_set('America/New_York');
    ini_set('date.timezone', 'Asia/Kolkata');
    date_default_timezone_set('America/New_York');
    chdir("$GLOBALS[folder]/boot");
    mb_internal_encoding('EUC-JP');
    ini_set('display_errors', 'stderr');
    return handle(...);
}, 4);
answers_of($server);
S\stopped($server);

// A directory that is gone stays the one of those who are in it.
echo await(spawnInstance(function (): string {
    chdir("$GLOBALS[folder]/deleted");
    unlink('x');
    rmdir('../deleted');
    usleep(1000);
    return json_encode([@getcwd(), is_link('/proc/self/cwd') && str_contains(readlink('/proc/self/cwd'), 'deleted')]);
})), "\n";
// One that could not be entered again is not left; nor is one entered for which there is no descriptor.
if (function_exists('posix_setrlimit')) {
    echo T\php(<<<'PHP'
        use function Async\{await, delay, spawnInstance};
        ini_set('display_errors', '0');
        chdir('/usr');
        delay(1);
        $limit = posix_getrlimit()['soft openfiles'];
        echo json_encode([await(spawnInstance(function () use ($limit): array {
            posix_setrlimit(POSIX_RLIMIT_NOFILE, 3, $limit);
            $result = [chdir('/tmp'), getcwd()];
            posix_setrlimit(POSIX_RLIMIT_NOFILE, $limit, $limit);
            return [...$result, chdir('/tmp'), getcwd()];
        })), getcwd()]);
        PHP), "\n";
} else {
    echo '[0] [[false,"\/usr",true,"\/tmp"],"\/usr"]', "\n";
}
foreach (['a', 'b', 'boot'] as $name) {
    unlink("$folder/$name/x");
    rmdir("$folder/$name");
}
echo seen() === $before ? 'the script has what it had' : 'changed: ' . json_encode(seen());
?>
--EXPECT--
script: UTC 00 UTC C.UTF-8 folder script UTF-8 1
10: Asia/Tokyo 09 UTC C b b SJIS 0 after UTC 00 UTC C.UTF-8 folder script UTF-8 1
10: Europe/Berlin 01 UTC C a a ISO-8859-1 1 after UTC 00 UTC C.UTF-8 folder script UTF-8 1
10: UTC 00 UTC C.UTF-8 folder script UTF-8 1
10: America/New_York 19 Asia/Kolkata C.UTF-8 boot boot EUC-JP stderr
10: Asia/Tokyo 09 Asia/Kolkata C b b SJIS 0 after America/New_York 19 Asia/Kolkata C.UTF-8 boot boot EUC-JP stderr
10: Europe/Berlin 01 Asia/Kolkata C a a ISO-8859-1 1 after America/New_York 19 Asia/Kolkata C.UTF-8 boot boot EUC-JP stderr
[false,true]
[0] [[false,"\/usr",true,"\/tmp"],"\/usr"]
the script has what it had
