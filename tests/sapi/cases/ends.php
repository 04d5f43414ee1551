<?php
/** The end of the script, in each of the ways. */

namespace Sapi;

/** How each of them runs a script; what it answers is the script's output. @return array<string, callable(string, array): string> */
function ways(): array
{
    $ini = function(array $settings): array {
        $options = [];
        foreach ($settings + ['extension' => EXTENSION, 'html_errors' => '0', 'display_errors' => '1'] as $name => $value) {
            array_push($options, '-d', "$name=$value");
        }
        return $options;
    };
    $plain = fn(string $output) => preg_replace('/\[\d+\]$/', '', $output);
    return [
        'cli' => fn($script, $settings) => $plain(command([PHP_BINARY, '-n', ...$ini($settings), $script])),
        'cgi-fcgi' => fn($script, $settings) => $plain(command([program('php-cgi'), '-n', '-q', ...$ini($settings), $script])),
        // It has a report of its own of what nobody has caught.
        'phpdbg' => fn($script, $settings) => preg_replace('/^\e\[1;31m\[.*?\e\[0m\n/ms', '', $plain(command([program('phpdbg'), '-n', ...$ini($settings), '-qrr', $script]))),
        'fpm-fcgi' => fn($script, $settings) => fpm($settings)->connect()->get($script)->body,
        'cli-server' => fn($script, $settings) => (new Server($ini($settings)))->get($script),
        'embed' => fn($script, $settings) => str_replace("--\n", '', embed($settings, "@$script")),
        'apache2handler' => fn($script, $settings) => (new Apache($settings))->get($script),
    ];
}

/** Runs files and pieces of code inside a program of ours. */
function embed(array $settings, string ...$what): string
{
    $program = WORK . '/embed';
    if (!is_file($program)) {
        $built = command(['sh', '-c', 'gcc -o "$1" "$2" $(php-config --includes) -lphp', '', $program, dirname(__DIR__) . '/embed.c']);
        check(is_file($program), "embed.c cannot be compiled: $built");
    }
    $lines = '';
    foreach ($settings + ['extension' => EXTENSION, 'html_errors' => '0', 'display_errors' => '1'] as $name => $value) {
        $lines .= "$name = $value\n";
    }
    file_put_contents(WORK . '/embed.ini', $lines);
    return preg_replace('/\[0\]$/', '', command([$program, WORK . '/embed.ini', ...$what], '', ['PHP_INI_SCAN_DIR' => '/nowhere']));
}

/** An end of the script, what is to come of it, and settings. */
$endings = [
    'pending' => [<<<'PHP'
        register_shutdown_function(function() { echo "shutdown\n"; Async\spawn(fn() => print("never\n")); Async\suspend(); });
        echo "main\n";
        Async\spawn(function() { Async\delay(2); echo "coroutine\n"; Async\spawn(function() { usleep(1000); echo "child\n"; }); });
        echo "end of main\n";
        PHP, "main\nend of main\ncoroutine\nchild\nshutdown\n"],
    'pending when main throws' => [<<<'PHP'
        register_shutdown_function(fn() => print("shutdown\n"));
        Async\spawn(function() { try { Async\delay(60_000); } finally { echo "its end\n"; } });
        Async\suspend();
        throw new Exception('of main');
        PHP, "its end\nUncaught Exception: of main\nshutdown\n"],
    'uncaught in a coroutine' => [<<<'PHP'
        register_shutdown_function(fn() => print("shutdown\n"));
        Async\spawn(function() { Async\delay(1); throw new Exception('of a coroutine'); });
        echo "end of main\n";
        PHP, "end of main\nUncaught Exception: of a coroutine\nshutdown\n"],
    'fatal in a coroutine' => [<<<'PHP'
        register_shutdown_function(fn() => print("shutdown\n"));
        Async\spawn(function() { Async\delay(60_000); echo "never\n"; });
        Async\spawn(function() { Async\delay(1); trigger_error('it is fatal', E_USER_ERROR); });
        echo "end of main\n";
        PHP, "end of main\nFatal error: it is fatal\nshutdown\n"],
    'exit in a coroutine' => [<<<'PHP'
        register_shutdown_function(fn() => print("shutdown\n"));
        Async\spawn(function() { Async\delay(60_000); echo "never\n"; });
        Async\spawn(function() { Async\delay(1); exit("exit\n"); });
        echo "end of main\n";
        PHP, "end of main\nexit\nshutdown\n"],
    'exit in main' => [<<<'PHP'
        register_shutdown_function(fn() => print("shutdown\n"));
        Async\spawn(function() { echo "never\n"; });
        exit("exit\n");
        PHP, "exit\nshutdown\n"],
    'before the first use' => [<<<'PHP'
        register_shutdown_function(fn() => print("shutdown 1\n"));
        register_shutdown_function(fn() => print("shutdown 2\n"));
        Async\spawn(fn() => print("coroutine\n"));
        PHP, "coroutine\nshutdown 1\nshutdown 2\n"],
];
foreach (array_keys(ways()) as $sapi) {
    foreach (['0', '4096'] as $buffer) {
        test("$sapi output_buffering=$buffer", function() use ($sapi, $buffer, $endings) {
            foreach ($endings as $name => [$code, $expected]) {
                if ($name === 'pending when main throws' && $sapi === 'embed') {
                    continue; // there code may come after it
                }
                $output = ways()[$sapi](script('ending', $code), ['output_buffering' => $buffer]);
                // What is reported, in one line.
                $output = preg_replace('/\n?(?:PHP )?Fatal error: +(Uncaught \w+: [^\n]*?) in .*?\n  thrown in [^\n]*\n/s', "$1\n", $output);
                $output = preg_replace('/\n?(?:PHP )?(Fatal error: )+([^\n]*?) in [^\n]* on line \d+\n/', "$1$2\n", $output);
                if ($name === 'exit in main' && $sapi === 'phpdbg') {
                    $expected = "exit\n"; // it calls no shutdown functions then
                }
                same($expected, $output, $name);
            }
        });
    }
    test("$sapi prepend and append", function() use ($sapi) {
        $settings = [
            'auto_prepend_file' => script('before', 'echo "before\n"; Async\spawn(function() { Async\delay(3); echo "spawned before\n"; });'),
            'auto_append_file' => script('after', 'echo "after\n"; Async\spawn(fn() => print("spawned after\n"));'),
        ];
        $output = ways()[$sapi](script('between', 'echo "script\n"; Async\spawn(fn() => print("spawned\n"));'), $settings);
        $files = $sapi === 'phpdbg' ? "script\nspawned\n" : "before\nscript\nafter\nspawned\nspawned after\nspawned before\n";
        same($files, $output);
    });
    test("$sapi relative paths", function() use ($sapi) {
        file_put_contents(WORK . '/beside.txt', 'beside');
        chdir('/');
        $output = ways()[$sapi](script('relative', 'Async\spawn(function() { Async\delay(1); echo basename(getcwd()); });'), []);
        chdir(WORK);
        $cwd = in_array($sapi, ['embed'], true) ? '' : basename(WORK);
        $sapi === 'embed' || same($cwd, $output);
    });
}

test('embed pieces', function() {
    $output = embed(['output_buffering' => '4096'],
        'register_shutdown_function(fn() => print("shutdown\n")); $c = Async\spawn(function() { Async\delay(1); echo "in\n"; return 5; });',
        'echo Async\await($c), "\n"; Async\spawn(function() { Async\delay(1); echo "late\n"; });',
        '@' . script('piece', 'echo "file\n"; echo Async\await(Async\spawn(fn() => "awaited\n"));'),
        'throw new Exception("reported");',
        'echo "the next\n";');
    $output = preg_replace('/\nFatal error.*thrown in piece on line 1/s', 'error', $output);
    same("--\nin\n5\n--\nfile\nawaited\n--\nerror\n--\nthe next\n--\nlate\nshutdown\n", $output);
    same("--\n--\n", embed([], 'Async\spawn(fn() => print("never\n"));', 'exit;'));
});

test('cli -F', function() {
    $script = script('line', 'Async\spawn(function() use ($argn) { Async\delay(1); echo "$argn\n"; }); register_shutdown_function(fn() => print("shutdown\n"));');
    same("a\nb\nshutdown\nshutdown\n[0]", command([PHP_BINARY, '-n', '-d', 'extension=' . EXTENSION, '-F', $script], "a\nb\n"));
});

test('output buffer of the request', function() {
    $fpm = fpm();
    $response = $fpm->connect()->get(script('buffer', <<<'PHP'
        use function Async\{await, spawn, suspend};
        echo "main 1\n";
        $a = spawn(function() {
            echo 'a 1 ', ob_get_level(), "\n";
            ob_start();
            echo "captured\n";
            suspend();
            echo '2 ' . ob_get_clean();
            header('X-A: yes');
        });
        suspend();
        ob_start(fn(string $text) => strtoupper($text));
        echo "main 2\n";
        suspend();
        ob_end_flush();
        echo "main 3\n";
        await($a);
        header('X-Main: yes');
        spawn(function() { ob_start(); echo "left open\n"; });
        PHP));
    same("main 1\na 1 1\n2 captured\nMAIN 2\nmain 3\nleft open\n", $response->body);
    same(['yes', 'yes'], [$response->header('X-A'), $response->header('X-Main')], 'headers');
    // Who ends the request's buffer ends it for all, and what it opens then is its own.
    $response = $fpm->connect()->get(script('dropped', <<<'PHP'
        use function Async\{await, spawn, suspend};
        echo "dropped\n";
        $c = spawn(function() {
            while (ob_get_level()) ob_end_clean();
            ob_start();
            echo 'its own';
            suspend();
            return ob_get_clean();
        });
        suspend();
        echo 'level ', ob_get_level(), "\n";
        echo '[', await($c), "]\n";
        PHP));
    same("level 0\n[its own]\n", $response->body);
});

test('a slow client gets all', function() {
    // Many coroutines write more than sockets hold, while the client does not read.
    $connection = ($fpm = fpm())->connect();
    $connection->send(script('much', <<<'PHP'
        for ($i = 0; $i < 20; $i++) {
            Async\spawn(function() use ($i) {
                for ($n = 0; $n < 50; $n++) {
                    echo str_pad("$i.$n", 9_999, '-'), "\n";
                    Async\suspend();
                }
            });
        }
        PHP));
    usleep(300_000);
    $lines = explode("\n", trim($connection->receive()->body));
    same(1000, count($lines), 'lines');
    same([9_999], array_values(array_unique(array_map(strlen(...), $lines))), 'lengths');
    same(1000, count(array_unique($lines)), 'different lines');
});
