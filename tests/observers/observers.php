<?php

/**
 * Debuggers, profilers and tracers beside Spindle: they see of coroutines what they see of fibers (IO-10, H19).
 *
 *     tests/sapi/run --observers [--only NAME] [--list] [--phpt [MODE...]]
 *
 * Debian's Xdebug, pcov, Excimer and Tideways, and a module of the tests (witness.c) that writes down what the engine tells
 * observers. --only takes one of the groups of checks, named like the functions below. With --phpt it is the phpt tests
 * instead, under each mode of Xdebug or those that are named. SPINDLE_EXTENSION names another module than build/spindle.so.
 * The last line is "N passed, N failed, N skipped"; the exit status is 0 only when nothing failed.
 */

declare(strict_types=1);

require_once dirname(__DIR__) . '/runner.php';
require __DIR__ . '/Dbgp.php';

/** What scripts/setup installs for the tests: one that is missing is named as skipped. Others are tried where they are installed. */
const EXTENSIONS = [
    'amqp', 'calendar', 'ctype', 'curl', 'dom', 'excimer', 'exif', 'ffi', 'fileinfo', 'ftp', 'gd', 'gettext', 'iconv',
    'igbinary', 'imagick', 'imap', 'ldap', 'mbstring', 'memcached', 'mongodb', 'msgpack', 'mysqli', 'mysqlnd', 'pcov',
    'pdo', 'pdo_mysql', 'pdo_pgsql', 'pdo_sqlite', 'pgsql', 'phar', 'posix', 'readline', 'redis', 'shmop',
    'simplexml', 'snmp', 'soap', 'sockets', 'sqlite3', 'ssh2', 'sysvmsg', 'sysvsem', 'sysvshm', 'tideways_xhprof',
    'tokenizer', 'xml', 'xmlreader', 'xmlwriter', 'xsl', 'zmq',
];
const MODES = ['debug', 'coverage', 'gcstats', 'trace', 'profile', 'develop'];

$root = dirname(__DIR__, 2);
define('SPINDLE', Runner\extension());
// A module may be built anew meanwhile; and what is measured are these modules, not those of the environment.
putenv('XDEBUG_MODE');
putenv('XDEBUG_CONFIG');

define('WORK', Runner\work('observers'));

// --- running programs ------------------------------------------------------------------------------------------------

/** A PHP that is run to its end, or beside us: its ini settings, its environment, its program. */
final class Run
{
    /** @var resource */
    private mixed $process;

    /**
     * @param list<string> $ini
     * @param array<string, string> $env
     */
    public function __construct(string $program, array $ini, array $env = [])
    {
        $command = ['timeout', '-s', 'KILL', '120', PHP_BINARY];
        foreach ($ini as $setting) {
            array_push($command, '-d', $setting);
        }
        $out = ['file', WORK . '/out', 'w'];
        $this->process = proc_open(
            [...$command, $program],
            [['file', '/dev/null', 'r'], $out, ['redirect', 1]],
            $pipes,
            WORK,
            $env + getenv()
        );
    }

    /** What it has printed, and its status in case that is not as expected. */
    public function output(int $expected = 0): string
    {
        $status = proc_close($this->process);
        return file_get_contents(WORK . '/out') . ($status === $expected ? '' : "status $status\n");
    }
}

/** @return list<string> */
function spindle(): array
{
    return ['extension=' . SPINDLE];
}

/** @return list<string> */
function xdebug(string $mode, string ...$settings): array
{
    return ['zend_extension=xdebug.so', "xdebug.mode=$mode", 'xdebug.start_with_request=yes', 'xdebug.output_dir=' . WORK,
        'xdebug.use_compression=0', 'xdebug.log_level=0', ...$settings];
}

function program(string $name): string
{
    return __DIR__ . "/programs/$name.php";
}

// --- checking --------------------------------------------------------------------------------------------------------

$count = ['ok' => 0, 'FAIL' => 0, 'skip' => 0];

function report(string $word, string $what, string $detail = ''): void
{
    global $count;
    $count[$word]++;
    printf("%-5s %s\n%s", $word, $what, preg_replace('/^(?=.)/m', '      ', $detail === '' ? '' : "$detail\n"));
}

function same(string $what, mixed $expected, mixed $seen): void
{
    $text = static fn($value) => is_string($value) ? $value : json_encode($value, JSON_PRETTY_PRINT | JSON_UNESCAPED_SLASHES);
    if ($expected === $seen) {
        report('ok', $what);
    } else {
        report('FAIL', $what, "expected:\n" . $text($expected) . "\nseen:\n" . $text($seen));
    }
}

/** Is this module there? It is reported as skipped if it is not. */
function there(string $module): bool
{
    if (is_file(ini_get('extension_dir') . "/$module.so")) {
        return true;
    }
    report('skip', "$module: it is not installed");
    return false;
}

// --- what the engine tells -------------------------------------------------------------------------------------------

/** What a program's observers were told. */
function witness(string $program, array $env = [], int $status = 0): string
{
    static $module = null;
    if ($module === null) {
        $module = WORK . '/witness.so';
        passthru('gcc -shared -fPIC -O1 -Wall $(php-config --includes) -o ' . escapeshellarg($module) . ' '
            . escapeshellarg(__DIR__ . '/witness.c'), $failed);
        if ($failed) {
            exit(2);
        }
    }
    $log = WORK . '/witness';
    $run = new Run(program($program), ["extension=$module", ...spindle(), 'display_errors=0', 'log_errors=0', 'memory_limit=32M'],
        $env + ['WITNESS' => $log]);
    $output = $run->output($status);
    return $output . file_get_contents($log);
}

function witnesses(): void
{
    same('what observers are told of coroutines, and of a fiber in one', <<<'TEXT'
        new B
        A running > B new
          at line 18
        + seenOuter
          + seenInner
          - seenInner
        - seenOuter
        B dead > A suspended
        gone B
        new C
        A running > C new
          at line 20
        + seenQuick
        - seenQuick
        new D
        C dead > D new
          at line 21
        gone C
        + seenQuick
        - seenQuick
        new E
        D dead > E new
          at line 22
        gone D
        new F
        E running > F new
          at line 27
        + seenOuter
          + seenInner
        new G
        F running > G new
          at line 30
        + seenOuter
          + seenInner
        G running > F suspended
          - seenInner
        - seenOuter
        F running > E suspended
        E running > F suspended
        F dead > E suspended
        gone F
        E dead > G suspended
        gone E
          - seenInner
        - seenOuter
        G dead > A suspended
        gone G

        TEXT, witness('switches'));
    foreach (['exit' => 3, 'fatal' => 255] as $how => $status) {
        same("what observers are told when a coroutine ends the script by $how", <<<'TEXT'
            new B
            A running > B new
              at line 20
            + seenParked
            new C
            B running > C new
              at line 21
            + seenEnd
            C running > B suspended
            B running > C suspended
            - seenEnd (thrown out)
            C dead > A suspended
            gone C

            TEXT, witness('ends', ['HOW' => $how], $status));
    }
}

// --- Xdebug ----------------------------------------------------------------------------------------------------------

function steps(): void
{
    if (!there('xdebug')) {
        return;
    }
    $debugger = new Dbgp();
    $file = program('steps');
    $run = new Run($file, [...xdebug('debug', 'xdebug.client_port=' . $debugger->port()), ...spindle()]);
    $debugger->accept();
    $debugger->ask('breakpoint_set', "-t line -f file://$file -n 8");
    $seen = [];
    foreach (['run', 'step_over', 'step_into'] as $command) {
        $seen[] = [$debugger->go($command), $debugger->functions(), $debugger->locals(), $debugger->locals(1)];
    }
    same('breakpoints and steps in two coroutines, with their stacks and variables', [
        ['work:8', ['work', 'first', '{fiber}'], ['$base' => '10', '$sum' => '10', '$who' => 'first'], ['$mine' => 'of the first']],
        ['work:9', ['work', 'first', '{fiber}'], ['$base' => '10', '$sum' => '11', '$who' => 'first'], ['$mine' => 'of the first']],
        ['work:8', ['work', 'second', '{fiber}'], ['$base' => '20', '$sum' => '20', '$who' => 'second'], ['$mine' => 'of the second']],
    ], $seen);
    $debugger->ask('breakpoint_set', "-t line -f file://$file -n 10");
    $seen = [];
    for ($i = 0; $i < 2; $i++) {
        $seen[] = [$debugger->go('run'), $debugger->locals()];
    }
    $debugger->ask('property_set', '-n $sum -- ' . base64_encode('50'));
    $seen[] = $debugger->go('run');
    same('a variable is changed in one of them', [
        ['work:10', ['$base' => '10', '$sum' => '11', '$who' => 'first']],
        ['work:10', ['$base' => '20', '$sum' => '21', '$who' => 'second']],
        'stopping',
    ], $seen);
    $debugger->go('run');
    same('the program ends as it does without a debugger', "22 100\n", $run->output());
}

/** Runs calls.php in the three ways. @return array<string, string> the contents of the files that it has made */
function calls(array $ini, string $file): array
{
    $made = [];
    foreach (['coroutines' => spindle(), 'fibers' => [], 'turns' => []] as $way => $with) {
        @unlink(WORK . "/$file");
        $output = (new Run(program('calls'), [...$ini, ...$with], ['WAY' => $way]))->output();
        $made[$way] = $output === "sum 13\n" ? (string) file_get_contents(WORK . "/$file") : $output;
    }
    return $made;
}

function traces(): void
{
    if (!there('xdebug')) {
        return;
    }
    $made = calls(xdebug('trace', 'xdebug.trace_format=1', 'xdebug.trace_output_name=made'), 'made.xt');
    $calls = array_map(static function (string $trace): array {
        [$open, $calls] = [[], []];
        foreach (explode("\n", $trace) as $line) {
            $fields = explode("\t", $line);
            if (($fields[2] ?? '') === '0') {
                $open[$fields[1]] = "$fields[0] $fields[5]";
            } elseif (($fields[2] ?? '') === '1') {
                $call = $open[$fields[1]] ?? 'nothing';
                unset($open[$fields[1]]);
                if (str_contains($call, ' Program\\')) {
                    $calls[] = str_starts_with($call, "$fields[0] ") ? $call : "$call that is left at $fields[0]";
                }
            }
        }
        sort($calls);
        return [...$calls, ...array_filter($open, static fn($call) => str_contains($call, 'Program'))];
    }, $made);
    same('a trace has the calls of coroutines, each at its depth', $calls['turns'], $calls['coroutines']);
    same('as those of fibers', $calls['fibers'], $calls['coroutines']);
}

function profiles(): void
{
    if (!there('xdebug')) {
        return;
    }
    $made = calls(xdebug('profile', 'xdebug.profiler_output_name=made'), 'made');
    $edges = array_map(static function (string $profile): array {
        [$names, $edges, $caller, $callee] = [[], [], '', ''];
        foreach (explode("\n", $profile) as $line) {
            if (preg_match('/^(c?)fn=\((\d+)\) ?(.*)$/', $line, $of)) {
                $names[$of[2]] = $of[3] !== '' ? $of[3] : $names[$of[2]];
                $of[1] === '' ? $caller = $names[$of[2]] : $callee = $names[$of[2]];
            } elseif (str_starts_with($line, 'calls=') && str_starts_with($caller, 'Program\\') && str_starts_with($callee, 'Program\\')) {
                $edges["$caller > $callee"] = ($edges["$caller > $callee"] ?? 0) + 1;
            }
        }
        ksort($edges);
        return $edges;
    }, $made);
    same('a profile says who calls whom in coroutines', [
        'Program\\first > Program\\inner' => 1,
        'Program\\first > Program\\last' => 1,
        'Program\\first > Program\\pause' => 1,
        'Program\\inner > Program\\pause' => 4,
        'Program\\last > Program\\pause' => 2,
        'Program\\second > Program\\inner' => 1,
        'Program\\second > Program\\last' => 1,
    ], $edges['coroutines']);
    same('as in fibers', $edges['fibers'], $edges['coroutines']);
    same('and as without either', $edges['turns'], $edges['coroutines']);
}

/** Compares the lines of the functions that all three ways have in common. */
function covered(string $tool, array $ini, string $start, string $stop): void
{
    file_put_contents(WORK . '/cover.php', "<?php $start; register_shutdown_function(function () { "
        . 'file_put_contents("' . WORK . '/made", json_encode(array_filter((' . $stop . ')["' . program('calls') . '"], '
        . 'fn($line) => $line < 37, ARRAY_FILTER_USE_KEY))); });');
    $made = calls([...$ini, 'auto_prepend_file=' . WORK . '/cover.php'], 'made');
    same("$tool: lines that run in coroutines are covered", $made['turns'], $made['coroutines']);
    same("$tool: some are, and some are not", true, str_contains($made['coroutines'], ':1') && str_contains($made['coroutines'], ':-1'));
}

function coverage(): void
{
    if (there('xdebug')) {
        covered('Xdebug', xdebug('coverage'), 'xdebug_start_code_coverage(XDEBUG_CC_UNUSED)', 'xdebug_get_code_coverage()');
    }
    if (there('pcov')) {
        covered('pcov', ['extension=pcov.so', 'pcov.directory=' . __DIR__], '\pcov\start()', '\pcov\collect()');
    }
}

function stacks(): void
{
    if (!there('xdebug')) {
        return;
    }
    $seen = (new Run(program('stacks'), [...xdebug('develop'), ...spindle()]))->output();
    same('stacks and messages of coroutines', "alpha > betaOf > {closure} > {fiber}\nalpha > betaOf > {closure} > {fiber}\nException: gamma < delta\n",
        preg_replace(['/\{closure:[^}]*\}/', '/\{fiber:[0-9A-F]+\}/'], ['{closure}', '{fiber}'], $seen));
}

function collections(): void
{
    if (!there('xdebug')) {
        return;
    }
    @unlink(WORK . '/made');
    $output = (new Run(program('collections'), [...xdebug('gcstats', 'xdebug.gc_stats_output_name=made'), ...spindle()]))->output();
    same('a program that collects cycles in coroutines', "fine\n", $output);
    same('its collections are noted', 2, preg_match_all('/ \| gc_collect_cycles$/m', (string) @file_get_contents(WORK . '/made')));
}

// --- profilers -------------------------------------------------------------------------------------------------------

function tideways(): void
{
    if (!there('tideways_xhprof')) {
        return;
    }
    $prepend = WORK . '/profile.php';
    file_put_contents($prepend, '<?php tideways_xhprof_enable(); register_shutdown_function(function () { file_put_contents("'
        . WORK . '/made", json_encode(array_map(fn($of) => $of["ct"], array_filter(tideways_xhprof_disable(), '
        . 'fn($edge) => preg_match("/^Program.*==>Program/", $edge), ARRAY_FILTER_USE_KEY)))); });');
    $made = calls(['extension=tideways_xhprof.so', "auto_prepend_file=$prepend"], 'made');
    $sorted = array_map(static function (string $json): array {
        $edges = json_decode($json, true) ?? [$json];
        ksort($edges);
        return $edges;
    }, $made);
    same('Tideways: who calls whom', $sorted['fibers'], $sorted['coroutines']);
}

function excimer(): void
{
    if (!there('excimer')) {
        return;
    }
    // It ends itself by this signal.
    same('Excimer: a timer and a profiler across coroutines', "its own stacks\nits timer ran\n",
        (new Run(program('excimer'), ['extension=excimer.so', ...spindle()]))->output(9));
}

// --- every extension -------------------------------------------------------------------------------------------------

/** Each extension that is there: what it says of itself and does, on stock PHP, beside Spindle, and in a coroutine. */
function extensions(): void
{
    $enabled = array_map('strtolower', get_loaded_extensions());
    $installed = array_map(static fn(string $file) => basename($file, '.so'), glob(ini_get('extension_dir') . '/*.so'));
    // opcache and Xdebug have checks of their own, here and in phpt.
    $names = array_diff(array_unique([...EXTENSIONS, ...$installed]), ['opcache', 'xdebug']);
    sort($names);
    foreach ($names as $name) {
        if (!in_array($name, [...$installed, ...$enabled], true)) {
            report('skip', "$name: it is not installed");
            continue;
        }
        $needs = ['http' => ['raphf'], 'memcached' => ['msgpack']][$name] ?? [];
        $load = [];
        foreach ([...$needs, $name] as $module) {
            if (!in_array($module, $enabled, true)) {
                $load[] = "extension=$module.so";
            }
        }
        $output = static fn(string $way, array $ini) => (new Run(program('extension'), [...$load, ...$ini, 'display_errors=1',
            'log_errors=0'], ['WAY' => $way, 'EXTENSION' => $name]))->output();
        $output('', []); // libraries make their folders at the first use on a machine, and say so
        $stock = $output('', []);
        if (!str_contains($stock, "\nthe end\n")) {
            report('skip', "$name: it ends early on stock PHP");
            continue;
        }
        foreach (['' => 'is the same beside Spindle', 'used' => 'is the same in a coroutine'] as $way => $what) {
            $seen = $output($way, spindle());
            if ($seen === $stock) {
                report('ok', "$name $what");
            } else {
                file_put_contents(WORK . '/stock', $stock);
                file_put_contents(WORK . '/seen', $seen);
                report('FAIL', "$name $what", (string) shell_exec('diff -U2 ' . WORK . '/stock ' . WORK . '/seen | head -n 60'));
            }
        }
    }
}

// --- the phpt tests under Xdebug -------------------------------------------------------------------------------------

/** The phpt tests of a folder, or all of them, but those that the file `without` names. */
function phpt(string $mode, string $folder = ''): void
{
    global $root;
    $tests = WORK . "/phpt-$mode";
    exec('cp -r ' . escapeshellarg("$root/tests/phpt") . ' ' . escapeshellarg($tests));
    preg_match_all('/^(\w+) +([^# ]+)/m', file_get_contents(__DIR__ . '/without'), $without, PREG_SET_ORDER);
    foreach ($without as [, $of, $test]) {
        if ($of === 'any' || in_array($of, explode(',', $mode), true)) {
            is_file("$root/tests/phpt/$test") || Runner\fail("the file `without` names $test, which does not exist");
            @unlink("$tests/$test"); // it may be there for two reasons
        }
    }
    $command = ["$root/tests/run-phpt", '-t', '300'];
    foreach ([...xdebug($mode), 'xdebug.trace_output_name=made', 'xdebug.profiler_output_name=made',
        'xdebug.gc_stats_output_name=made'] as $setting) {
        if (!str_starts_with($setting, 'xdebug.mode')) {
            array_push($command, '-d', $setting);
        }
    }
    // The runner of the tests sets the mode by ini, and this stands above it.
    $process = proc_open(
        [...$command, "$tests/$folder"],
        [['file', '/dev/null', 'r'], ['file', WORK . '/phpt.log', 'w'], ['redirect', 1]],
        $pipes,
        null,
        ['XDEBUG_MODE' => $mode] + getenv()
    );
    $status = proc_close($process);
    $log = rtrim(file_get_contents(WORK . '/phpt.log'));
    $last = substr($log, (int) strrpos("\n$log", "\n"));
    if ($mode === 'develop') {
        // It changes what errors and var_dump() print: what counts is that nothing crashes or hangs.
        $status = preg_match('/Termsig=|\[1[34]\d\]|Segmentation fault/', $log) || !preg_match('/^[1-9]\d* passed/', $last) ? 1 : 0;
    }
    report($status ? 'FAIL' : 'ok', "phpt under Xdebug's mode $mode: $last", $status ? $log : '');
}

// --- what is wanted --------------------------------------------------------------------------------------------------

$arguments = array_slice($argv, 2);
$groups = ['witnesses', 'steps', 'traces', 'profiles', 'coverage', 'stacks', 'collections', 'tideways', 'excimer', 'extensions'];
if ($arguments === ['--list']) {
    echo implode("\n", $groups), "\nphpt under Xdebug's modes\n";
    exit(0);
}
if (($arguments[0] ?? '') === '--phpt') {
    if (there('xdebug')) {
        foreach (array_slice($arguments, 1) ?: MODES as $mode) {
            phpt($mode);
        }
    }
} else {
    if (($arguments[0] ?? '') === '--only') {
        $groups = array_intersect($groups, [$arguments[1] ?? '']);
    }
    foreach ($groups as $group) {
        $group();
    }
    if ($arguments === [] && there('xdebug')) {
        phpt('debug,coverage,gcstats,trace,profile', 'coroutine');
        phpt('develop', 'coroutine');
    }
}
Runner\close($count['ok'], $count['FAIL'], $count['skip']);
