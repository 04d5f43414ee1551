--TEST--
OBS-4 a standard error that no one reads keeps a server from nothing: lines for which there is no room are counted, and said to be missing
--EXTENSIONS--
pcntl
--FILE--
<?php
require __DIR__ . '/server.inc';

// It is its own client. What it forks has no thread that writes, and writes itself.
$program = <<<'PHP'
    ini_set('log_errors', '1');
    ini_set('display_errors', '0');
    $server = (new Async\Http\Server())->listen('127.0.0.1:0');
    $server->handle(function (Async\Http\Request $request) {
        if ($request->path() === '/fork') {
            if (pcntl_fork() === 0) {
                error_log('of the child');
                posix_kill(getmypid(), SIGKILL);
            }
            pcntl_wait($status);
        }
        error_log($request->path() . str_repeat('.', 2999));
        return 'fine';
    });
    $running = Async\spawn($server->run(...));
    $get = fn(string $path) => file_get_contents("http://{$server->address()}$path");
    $get('/fork');
    fgets(STDIN);
    for ($i = $fine = 0; $i < 500; $i++) $fine += $get("/$i") === 'fine';
    echo "$fine\n";
    fgets(STDIN);
    $get('/last');
    $server->stop();
    Async\await($running);
    error_log('after the server');
    PHP;
$command = 'exec ' . T\interpreter('-r ' . escapeshellarg($program));
$process = proc_open($command, [['pipe', 'r'], ['pipe', 'w'], ['pipe', 'w']], $pipes);
echo preg_replace('/^\[.*?] |\.{2999}/m', '', fgets($pipes[2]) . fgets($pipes[2]));
fwrite($pipes[0], "\n");
echo 'answered: ', fgets($pipes[1]);
$text = '';
$reader = Async\spawn(function () use ($pipes, &$text) { while (($line = fgets($pipes[2])) !== false) $text .= $line; });
$comes = function (string $what) use (&$text) { T\until(function () use (&$text, $what) { return str_contains($text, $what); }); };
$comes('missing here');
fwrite($pipes[0], "\n");
$comes("after the server\n");
Async\await($reader);
preg_match('~^(\d+) lines are missing here, as standard error was not read in time\n~m', $text, $missing);
T\check('each line is there, or counted', preg_match_all('~] /\d+\.{2999}$~m', $text) + $missing[1] === 500, $missing);
T\check('so is the last', preg_match_all('~] /last\.{2999}$~m', $text) === 1);
var_dump(proc_close($process));
?>
--EXPECTF--
of the child
/fork
answered: 500
each line is there, or counted: yes
so is the last: yes
int(0)
