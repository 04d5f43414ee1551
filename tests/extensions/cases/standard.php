<?php
// ini: max_input_vars=3
// ini: sendmail_path=true
// ini: zend.assertions=1
namespace Matrix;

// --- arrays: callbacks, comparisons that ask objects for their text, and errors that are handled ---------------------------

$numbers = [5, 3, 8, 1, 9, 2];
/** The same for both flows in kind, and different in content. */
$of = static fn(int $n): array => \array_map(static fn($x) => $x * $n, $numbers);
$way = static fn(int $n): callable => $n === 1 ? compare(...) : static fn($a, $b) => -compare($a, $b);
$words = static fn(int $n): array => texts("b$n", "a$n", "c$n", "a$n");

foreach (['usort', 'uasort'] as $sort) {
    check($sort, static function ($_, int $n) use ($sort, $of, $way) { $a = $of($n); $sort($a, $way($n)); return $a; }, in: $sort);
}
check('uksort', static function ($_, int $n) use ($of, $way) { $a = \array_flip($of($n)); \uksort($a, $way($n)); return $a; }, in: 'uksort');
foreach (['sort', 'rsort', 'asort', 'arsort'] as $sort) {
    check($sort, static function ($_, int $n) use ($sort, $words) { $a = $words($n); $sort($a, [1 => SORT_STRING, 2 => SORT_STRING | SORT_FLAG_CASE][$n]); return \array_map(strval(...), $a); }, in: $sort);
}
check('array_unique', static fn($_, int $n) => \array_map(strval(...), \array_unique($words($n))), in: 'array_unique');
check('natsort', static function ($_, int $n) use ($words) { $a = $words($n); \natsort($a); return \array_map(strval(...), $a); }, in: 'natsort');
check('natcasesort', static function ($_, int $n) use ($words) { $a = $words($n); \natcasesort($a); return \array_map(strval(...), $a); }, in: 'natcasesort');
// It is not suspended: both have begun before.
check('array_multisort', static function ($_, int $n) use ($words) { pause(); $a = $words($n); $way = [1 => SORT_ASC, 2 => SORT_DESC][$n]; \array_multisort($a, $way, SORT_STRING); return \array_map(strval(...), $a); }, anywhere: true);

/** Functions of two arrays that compare by callbacks: their number. */
$both = ['array_udiff' => 1, 'array_udiff_assoc' => 1, 'array_udiff_uassoc' => 2, 'array_diff_ukey' => 1, 'array_diff_uassoc' => 1,
    'array_uintersect' => 1, 'array_uintersect_assoc' => 1, 'array_uintersect_uassoc' => 2, 'array_intersect_ukey' => 1, 'array_intersect_uassoc' => 1];
foreach ($both as $function => $callbacks) {
    check($function, static fn($_, int $n) => $function($of($n), [5 * $n, 2 => 8 * $n, 3, 9 => 1], ...\array_fill(0, $callbacks, $way($n))), in: $function);
}
foreach (['array_diff', 'array_intersect', 'array_diff_assoc', 'array_intersect_assoc'] as $function) {
    check($function, static fn($_, int $n) => \array_map(strval(...), $function($words($n), texts("a$n", 'a1', "c$n"))), in: $function);
}
check('array_diff of one', static fn($_, int $n) => \array_map(strval(...), \array_diff($words($n), texts("a$n"))), in: 'array_diff');
foreach (['array_map' => fn($n) => \array_map(static function ($x, $y) { pause(); return "$x-$y"; }, $of($n), ['a', 'b']),
    'array_filter' => fn($n) => \array_filter($of($n), static function ($x, $key) { pause(); return $x > 4 && $key; }, ARRAY_FILTER_USE_BOTH),
    'array_reduce' => fn($n) => \array_reduce($of($n), static function ($all, $x) { pause(); return "$all $x"; }, $n),
    'array_walk' => function ($n) use ($of) { $a = $of($n); \array_walk($a, static function (&$x, $key, $with) { pause(); $x = "$x $key $with"; }, $n); return $a; },
    'array_walk_recursive' => function ($n) use ($of) { $a = [$of($n), [$of($n)]]; \array_walk_recursive($a, static function (&$x, $key) { pause(); $x = "$x $key"; }); return $a; },
    'in_array' => fn($n) => \in_array("c$n", $words($n)),
    'array_search' => fn($n) => \array_search("c$n", $words($n)),
    'array_keys' => fn($n) => \array_keys($words($n), "a$n"),
    'min' => fn($n) => (string) \min("b$n", ...texts("a$n", "c$n")),
    'max' => fn($n) => (string) \max([text("b$n"), "c$n", text("a$n")]),
    'array_fill_keys' => fn($n) => \array_fill_keys($words($n), $n),
    'array_combine' => fn($n) => \array_combine($words($n), [1, 2, 3, $n]),
    'array_flip' => fn($n) => noisily(fn() => \array_flip([1.5, "a$n", null, $n])),
    'array_count_values' => fn($n) => noisily(fn() => \array_count_values([1.5, "a$n", null, $n, "a$n"])),
    // It warns of what it ignores, and of other things before PHP 8.3.
    'range' => fn($n) => noisily(fn() => PHP_VERSION_ID < 80300 ? \range([$n], text(4)) : \range("x$n", 'z')),
    'count' => fn($n) => \count(new class($n) implements \Countable { function __construct(private int $n) {} function count(): int { pause(); return $this->n; } }),
    'iterator in array_map' => fn($n) => \array_map(static fn($x) => \iterator_to_array(new Items([$x, $n])), [1, 2]),
    'compact' => function ($n) { $a = $n; return noisily(fn() => \compact('a', ['none', ['nothing']])); },
] as $function => $call) {
    // The compiler makes something else of a few of them.
    check($function, static fn($_, int $n) => $call($n), in: \function_exists($function) ? $function : 'array_map', anywhere: $function === 'count');
}
check('array_column', static fn($_, int $n) => \array_column([new class($n) { function __construct(private int $n) {} function __isset($k) { pause(); return true; } function __get($k) { pause(); return "$k $this->n"; } }, ['x' => $n, 'y' => 'k']], 'x', 'y'), in: 'array_column');
check('compact, of one array', static fn($names, int $n) => noisily(static function () use ($names, $n) { $a = $n; return \compact('a', $names); }), static fn() => [\strrev('enon'), [\strrev('gnihton')]], in: 'compact');
check('extract', static function ($_, int $n) {
    $a = new class { function __destruct() { pause(); } };
    $b = 1;
    return [\extract(['a' => $n, 'b' => "b$n", 'c' => 3]), $a, $b, $c];
}, in: 'extract');
// What lies behind a reference is the program's: two that change it element by element see each other's.
check('array_walk, of an array each', static fn($array, int $n) => [\array_walk($array->items, static function (&$x) use ($n) { pause(); $x = "$x $n"; }), $array->items], static fn() => (object) ['items' => [1, 2, 3]], apart: true, in: 'array_walk');
check('array_walk_recursive, of one array', static fn($array, int $n) => [\array_walk_recursive($array->items, static function ($x) use ($n) { pause(); }), $array->items], static fn() => (object) ['items' => [1, [2, [3]]]], in: 'array_walk_recursive');
check('usort, of one array', static function ($array, int $n) use ($way) { \usort($array->items, $way($n)); return 0; }, static fn() => (object) ['items' => [4, 2, 7, 1]], static fn($array) => $array->items, in: 'usort');
foreach (['array_splice' => fn(&$a, $n) => \array_splice($a, 0, 1, [$n]), 'array_pop' => fn(&$a, $n) => \gettype(\array_pop($a)), 'array_shift' => fn(&$a, $n) => \gettype(\array_shift($a)), 'settype' => fn(&$a, $n) => \settype($a, 'string')] as $function => $call) {
    check("$function, with a destructor", static function ($_, int $n) use ($call) {
        $a = [new class { function __destruct() { pause(); } function __toString(): string { pause(); return 'x'; } }, 1, 2];
        return noisily(static function () use ($call, $n, &$a) { $call($a, $n); $count = \is_array($a) ? \count($a) : $a; $a = 0; return $count; });
    }, anywhere: true);
}

// --- texts: arguments that are asked for theirs, in the middle ---------------------------------------------------------------

foreach ([
    'implode' => fn($n) => \implode(', ', $words($n)),
    'str_replace' => fn($n) => \str_replace($words($n), texts('x', 'y', "z$n"), $words($n)),
    'str_ireplace' => fn($n) => \str_ireplace($words($n), texts('x', 'y', "z$n"), $words($n)),
    'substr_replace' => fn($n) => \substr_replace($words($n), texts('x', "y$n"), [0, 1], [1, 0]),
    'strtr' => fn($n) => \strtr("some text $n", ['some' => text("any$n"), 'text' => text('words')]),
    'sprintf' => fn($n) => \sprintf('%s %5s %2$s', text("a$n"), text("b$n")),
    'vsprintf' => fn($n) => \vsprintf('%s %5s %2$s', texts("a$n", "b$n")),
    'number_format' => fn($n) => \number_format(1234.5 * $n, 2, text(','), text(';')),
    'explode' => fn($n) => \explode(text(' '), text("a b $n")),
    'trim' => fn($n) => \trim(text(" $n "), text(' ')),
    'wordwrap' => fn($n) => \wordwrap(text("some words $n"), 4, text('|'), true),
    'similar_text' => fn($n) => [\similar_text(text("World$n"), text('Word'), $percent), $percent],
    'levenshtein' => fn($n) => \levenshtein(text("World$n"), text('Word')),
    'pack' => fn($n) => \pack('a4n', text("a$n"), $n),
    'parse_url' => fn($n) => \parse_url(text("http://h$n/p?q#f")),
    'str_getcsv' => fn($n) => \str_getcsv(text("a,'b $n',c"), text(','), text("'")),
    'http_build_query' => fn($n) => \http_build_query(['a' => $n, 'b' => ['c' => 1.5]], text('p'), text(';')),
    'parse_str' => fn($n) => noisily(static function () use ($n) { \parse_str("a=$n&b[]=1&c=2&d=3&e=4", $all); return $all; }),
    'sscanf' => fn($n) => \sscanf(text("id $n x"), text('id %d %s')),
    'constant' => function ($n) { $class = on_demand("const C = $n;"); return \constant("$class::C"); },
    'is_callable' => function ($n) { $class = on_demand('static function f() {}'); return \is_callable([$class, 'f']); },
    'call_user_func' => fn($n) => \call_user_func(static function () use ($n) { pause(); return $n; }),
    'call_user_func_array' => fn($n) => \call_user_func_array(static function (...$all) use ($n) { pause(); return [$n, $all]; }, ['a' => 1, 'b' => $n]),
    'intval' => fn($n) => noisily(fn() => \intval(new \stdClass, $n + 8) + $n),
    'strval' => fn($n) => \strval(text($n)),
    'settype' => function ($n) { $a = text("t$n"); \settype($a, 'string'); return $a; },
    'version_compare' => fn($n) => \version_compare(text("1.$n"), text('1.1.5'), text('>')),
    'htmlspecialchars' => fn($n) => \htmlspecialchars(text("<$n>"), ENT_QUOTES, text('UTF-8')),
    'htmlentities, of a charset' => fn($n) => noisily(fn() => \htmlentities("<$n>\u{e9}", ENT_QUOTES, "none$n")),
    'strip_tags' => fn($n) => \strip_tags(text("<b><i>$n</i></b>"), '<b>'),
    'crypt' => fn($n) => \crypt(text("p$n"), text('$1$salt$')),
    'password_hash' => fn($n) => \password_verify("p$n", noisily(fn() => \password_hash(text("p$n"), text(PASSWORD_BCRYPT), ['cost' => 4, 'salt' => 'x']))[0]),
    'getopt' => fn($n) => \getopt(text('ab:'), texts('long', 'other:')),
    'setlocale' => fn($n) => \setlocale(LC_COLLATE, texts("none$n", 'C')),
    'ini_set' => fn($n) => [\ini_set(text('user_agent'), text('same')), \ini_get('user_agent')],
    'putenv' => fn($n) => [\putenv(text("EXT_$n=x$n")), \getenv("EXT_$n")],
    'str_word_count' => fn($n) => \str_word_count(text("a b$n"), 1, text('1..2')),
    'count_chars' => fn($n) => \count_chars(text("aab$n"), 3),
    'addcslashes' => fn($n) => \addcslashes(text("ab$n"), text('a..b')),
    'nl_langinfo' => fn($n) => noisily(fn() => \nl_langinfo(-$n)),
    'hex2bin' => fn($n) => noisily(fn() => \hex2bin('abc')),
    'unpack' => fn($n) => noisily(fn() => \unpack('N2a/n', \str_repeat("$n", 5))),
    'base_convert' => fn($n) => noisily(fn() => \base_convert("1z$n", 8, 10)),
    'assert' => function ($n) {
        return noisily(static function () use ($n) {
            \assert_options(ASSERT_WARNING, 1);
            \assert_options(ASSERT_EXCEPTION, 0);
            return \assert($n > 5, "description $n");
        });
    },
] as $function => $call) {
    $function = \explode(',', $name = $function)[0];
    $compiled = \in_array($function, ['call_user_func', 'call_user_func_array', 'intval', 'strval'], true);
    check($name, static fn($_, int $n) => $call($n), in: $function, anywhere: $compiled);
}
check('strtok', static function ($_, int $n) {
    $words = [];
    for ($word = \strtok(text("some words of $n"), text(' ')); $word !== false; $word = \strtok(text(' '))) $words[] = $word;
    return $words;
}, in: 'strtok');
check('ini_set, with a message', static fn($_, int $n) => noisily(fn() => \ini_set('mbstring.http_input', "ASCII") !== false), in: 'ini_set');

// --- serializing -------------------------------------------------------------------------------------------------------------

foreach ([Bag::class, OldBag::class] as $class) {
    check("serialize, $class", static fn($_, int $n) => \serialize(bags($n, $class)), in: 'serialize');
    check("serialize, $class in common", static fn($bags, int $n) => \serialize([$n, $bags, $bags]), static fn() => bags(7, $class), in: 'serialize');
    $texts = [1 => \serialize(bags(1, $class)), 2 => \serialize(bags(2, $class))];
    check("unserialize, $class", static fn($_, int $n) => \unserialize($texts[$n]), in: 'unserialize');
}
final class Ancient implements \Serializable
{
    public function __construct(public mixed $content = null) {}
    public function serialize() { pause(); return \serialize($this->content); }
    public function unserialize($text) { pause(); $this->content = \unserialize($text); pause(); }
    public function __serialize(): array { return []; }
    public function __unserialize(array $data): void {}
}
$ancient = static fn(int $n) => 'a:3:{i:0;C:14:"Matrix\Ancient":' . \strlen($s = \serialize([$n, 'x'])) . ":{{$s}}i:1;O:8:\"stdClass\":1:{s:1:\"a\";i:$n;}i:2;r:3;}";
check('unserialize, Serializable', static fn($_, int $n) => noisily(fn() => \unserialize($ancient($n))), in: 'unserialize');
check('unserialize, of classes on demand', static function ($_, int $n) { $class = on_demand('public $a;'); return (array) \unserialize('a:2:{i:0;O:' . \strlen($class) . ":\"$class\":1:{s:1:\"a\";i:$n;}i:1;r:2;}")[0]; }, in: 'unserialize');
check('unserialize, allowed classes', static fn($_, int $n) => \unserialize($texts[$n], ['allowed_classes' => texts(OldBag::class, "x$n")]), in: 'unserialize');
check('unserialize, broken', static fn($_, int $n) => noisily(fn() => \unserialize(\substr($texts[$n], 0, 80))), in: 'unserialize');
check('unserialize, to a depth', static fn($_, int $n) => noisily(fn() => \unserialize($texts[$n], ['max_depth' => $n + 1])), in: 'unserialize');

// --- output ------------------------------------------------------------------------------------------------------------------

$dumps = static fn($function) => static fn($bags, int $n) => \preg_replace('/(#|Object\(|refcount\()\d+/', '$1', printed(static fn() => $function([$n, $bags, 'text', 1.5, [$n]])));
foreach (['var_dump', 'print_r', 'debug_zval_dump'] as $function) {
    check($function, $dumps($function), static fn() => bags(1), in: $function);
}
check('var_export', static fn($bags, int $n) => printed(static fn() => \var_export([$n, $bags])), static fn() => bags(1), in: 'var_export');
check('printf', static fn($_, int $n) => printed(static fn() => \printf('%s %s', text("a$n"), text('b'))), in: 'printf');
check('vprintf', static fn($_, int $n) => printed(static fn() => \vprintf('%s %s', texts("a$n", 'b'))), in: 'vprintf');
check('readfile', static fn($_, int $n) => printed(static fn() => \readfile(slow("content $n of a file"))), in: 'readfile');
check('fpassthru', static fn($_, int $n) => printed(static fn() => \fpassthru(slow_stream("content $n of a file"))), in: 'fpassthru');
check('fpassthru of one stream', static fn($stream, int $n) => printed(static fn() => \fpassthru($stream)), static fn() => slow_stream('content of a file'), in: 'fpassthru');
check('phpinfo', static fn($_, int $n) => \strlen(\preg_replace('/\d+/', '', printed(static fn() => \phpinfo(INFO_CREDITS))[1])), in: 'phpinfo');
check('phpcredits', static fn($_, int $n) => \md5(printed(static fn() => \phpcredits([1 => CREDITS_GROUP, 2 => CREDITS_SAPI][$n]))[1]), in: 'phpcredits');
$source = scratch(suffix: '.php');
\file_put_contents($source, "<?php\n// a comment\nfunction f(\$a) { return \"x \$a \" . 1; }\n?>text\n");
check('highlight_string', static fn($_, int $n) => printed(static fn() => \highlight_string("<?php function f$n(\$a) { return \"\$a\"; } // c\n")), in: 'highlight_string');
check('highlight_file', static fn($_, int $n) => printed(static fn() => \highlight_file($source)), in: 'highlight_file');
check('php_strip_whitespace', static fn($_, int $n) => \php_strip_whitespace(text($source)), in: 'php_strip_whitespace');
check('system', static fn($_, int $n) => printed(static function () use ($n) { $last = \system("echo a$n; echo b$n", $code); return [$last, $code]; }), in: 'system');
check('passthru', static fn($_, int $n) => printed(static fn() => \passthru("echo a$n")), in: 'passthru');
check('exec', static function ($_, int $n) { \exec("echo a$n; sleep 0.05; echo b$n", $lines, $code); return [$lines, $code]; }, in: 'exec');
check('shell_exec', static fn($_, int $n) => \shell_exec("sleep 0.05; echo a$n"), in: 'shell_exec');
check('ob_start, callbacks', static function ($_, int $n) {
    $text = '';
    \ob_start(static function (string $piece, int $phase) use (&$text): string { pause(); $text .= "[$phase:$piece]"; return ''; });
    echo "one$n";
    \ob_flush();
    echo "two$n";
    \ob_clean();
    echo "three$n";
    \ob_end_flush();
    return $text;
}, in: ['ob_flush', 'ob_clean', 'ob_end_flush']);

// --- settings that are parsed --------------------------------------------------------------------------------------------------

check('parse_ini_string', static fn($_, int $n) => noisily(fn() => \parse_ini_string("[a]\nx = $n\ny = E_ALL\n[b]\nz[] = on\n{}bad$n", true)), in: 'parse_ini_string');
check('parse_ini_string, raw', static fn($_, int $n) => \parse_ini_string(text("[a]\nx = $n\n"), true, INI_SCANNER_RAW), in: 'parse_ini_string');
check('parse_ini_file', static fn($_, int $n) => \parse_ini_file(slow("[a]\nx = $n\ny = [1]\n[b]\nz[] = on\n"), true), in: 'parse_ini_file');
check('error_log', static fn($_, int $n) => [\error_log(text("line $n\n"), 3, $file = scratch()), \file_get_contents($file)], in: 'error_log');
check('highlight_string, in common', static fn($_, int $n) => \highlight_string(text('<?php echo 1;'), true), in: 'highlight_string');
check('header', static fn($_, int $n) => noisily(fn() => \header("X-A$n: b\r\n c")), anywhere: true);
check('setcookie', static fn($_, int $n) => \setcookie(text("c$n"), text('value'), ['path' => text("/$n"), 'samesite' => text('Lax')]), in: 'setcookie');
check('iptcparse', static fn($_, int $n) => \iptcparse(text("no $n")), in: 'iptcparse');

// --- streams of PHP code ---------------------------------------------------------------------------------------------------------

foreach ([
    'file_get_contents' => fn($n) => \file_get_contents(slow("content $n")),
    'file_put_contents' => fn($n) => [\file_put_contents($to = slow(''), $words($n)), written($to)],
    'file' => fn($n) => \file(slow("a$n\nb\nc\n"), FILE_IGNORE_NEW_LINES),
    'copy' => fn($n) => [\copy(slow("content $n"), $to = slow('')), written($to)],
    'rename' => fn($n) => [\rename($from = slow("content $n"), $to = "$from-new"), written($to)],
    'unlink' => fn($n) => \unlink(slow("content $n")),
    'mkdir' => fn($n) => \mkdir("slow://folder$n"),
    'rmdir' => fn($n) => \rmdir("slow://folder$n"),
    'touch' => fn($n) => \touch(slow("$n")),
    'chmod' => fn($n) => \chmod(slow("$n"), 0600),
    'filesize' => fn($n) => \filesize(slow(\str_repeat('x', $n))),
    'file_exists' => fn($n) => [\file_exists("slow://none$n"), \file_exists(slow(''))],
    'stat' => fn($n) => \stat(slow(\str_repeat('x', $n)))['size'],
    'scandir' => fn($n) => \scandir("slow://$n"),
    'opendir' => fn($n) => \readdir(\opendir("slow://$n")),
    'md5_file' => fn($n) => \md5_file(slow("content $n")),
    'sha1_file' => fn($n) => \sha1_file(slow("content $n")),
    'getimagesize' => fn($n) => \getimagesize(slow("GIF89a" . \pack('v2', 10 * $n, 20) . "\x80\0\0rest of it"), $info),
    'get_meta_tags' => fn($n) => \get_meta_tags(slow("<html><head><meta name='a' content='c$n'><meta name=\"b.c\" content=\"d\"></head>")),
    'fopen' => fn($n) => \get_resource_type(\fopen(slow(''), 'r')),
    'fgetcsv' => fn($n) => \fgetcsv(slow_stream("a,\"b $n\nc\",d\n")),
    'fputcsv' => fn($n) => [\fputcsv(\fopen($to = slow(''), 'w'), $words($n)), written($to)],
    'fprintf' => fn($n) => [\fprintf(\fopen($to = slow(''), 'w'), '%s %s', text("a$n"), text('b')), written($to)],
    'fscanf' => fn($n) => \fscanf(slow_stream("id $n\n"), 'id %d'),
    'stream_copy_to_stream' => fn($n) => [\stream_copy_to_stream(slow_stream("content $n"), \fopen($to = slow(''), 'w')), written($to)],
    'stream_get_line' => fn($n) => \stream_get_line(slow_stream("some words $n;more"), 100, ';'),
    'ftruncate' => fn($n) => [\ftruncate(\fopen($to = slow("content $n"), 'r+'), 3), written($to)],
    'flock' => fn($n) => \flock(slow_stream("$n"), LOCK_EX),
    'fstat' => fn($n) => \fstat(slow_stream("$n"))['size'],
    'tempnam' => fn($n) => \strlen(\basename(\tempnam(text(\getenv('MATRIX_TMP')), text("t$n")))),
    'glob' => fn($n) => \glob(text("/none$n*")),
    'iptcembed' => fn($n) => noisily(fn() => \iptcembed(text("data $n"), text('/none'))),
] as $function => $call) {
    check($function, static fn($_, int $n) => $call($n), in: $function);
}
check('dir', static function ($_, int $n) { $dir = \dir("slow://$n"); $names = []; while (($name = $dir->read()) !== false) $names[] = $name; $dir->close(); return $names; }, anywhere: true);
foreach (['fread' => fn($s, $n) => \fread($s, 5), 'fgets' => fn($s, $n) => \fgets($s), 'fgetc' => fn($s, $n) => \fgetc($s), 'stream_get_contents' => fn($s, $n) => \stream_get_contents($s),
    'fgetcsv' => fn($s, $n) => \fgetcsv($s), 'stream_get_line' => fn($s, $n) => \stream_get_line($s, 100, 'n'), 'fseek' => fn($s, $n) => [\fseek($s, $n)], 'fwrite' => fn($s, $n) => \fwrite($s, "$n$n$n"),
    'fflush' => fn($s, $n) => [\fwrite($s, 'x') , \fflush($s)], 'fscanf' => fn($s, $n) => \fscanf($s, '%s %s'), 'fputcsv' => fn($s, $n) => \fputcsv($s, texts("a$n", 'b'))] as $function => $call) {
    check("$function, of one stream", static fn($stream, int $n) => $call($stream, $n), static fn() => slow_stream("first line\nsecond line\nthird line\n"),
        static fn($stream) => [\rewind($stream), \stream_get_contents($stream)], in: $function);
}
// Two that close one stream have both closed it.
check('fclose', static fn($stream, int $n) => \fclose($stream), static fn() => slow_stream('text'), apart: true, in: 'fclose');

// --- filters of PHP code ---------------------------------------------------------------------------------------------------------

final class Louder extends \php_user_filter
{
    private string $all = '';
    public function onCreate(): bool { pause(); return true; }
    public function onClose(): void { pause(); }
    public function filter($in, $out, &$consumed, bool $closing): int
    {
        while ($bucket = \stream_bucket_make_writeable($in)) {
            pause();
            $bucket->data = \strtoupper($bucket->data) . $this->params;
            $consumed += $bucket->datalen;
            \stream_bucket_append($out, $bucket);
            pause();
        }
        return PSFS_PASS_ON;
    }
}
\stream_filter_register('louder', Louder::class);
\stream_filter_register('louder.*', Louder::class);
$filtered = static function () { $s = \fopen('php://memory', 'w+'); \fwrite($s, "some text\nmore text\n"); \rewind($s); \stream_filter_append($s, 'louder', STREAM_FILTER_READ, '!'); return $s; };
check('a filter below fgets', static fn($s, int $n) => \fgets($s), $filtered, in: 'fgets');
check('a filter below fwrite', static function ($s, int $n) { \stream_filter_append($s, "louder.$n", STREAM_FILTER_WRITE, "$n"); \fwrite($s, "text $n"); \fclose($s); }, static fn() => \fopen('php://memory', 'w+'), apart: true, in: ['fwrite', 'stream_filter_append', 'fclose']);
check('a filter in a URL', static fn($_, int $n) => \file_get_contents('php://filter/read=louder|string.rot13/resource=' . slow("text $n")), in: 'file_get_contents');
check('stream_filter_remove', static function ($s, int $n) { $filter = \stream_filter_append($s, 'louder', STREAM_FILTER_WRITE, "$n"); $a = \fwrite($s, 'a'); \stream_filter_remove($filter); return \stream_get_contents($s, offset: 0); }, static fn() => \fopen('php://memory', 'w+'), apart: true, in: 'stream_filter_remove');
check('convert.* in a URL', static fn($_, int $n) => \file_get_contents('php://filter/read=convert.base64-encode/resource=' . slow("text $n")), in: 'file_get_contents');

// --- sockets and processes ---------------------------------------------------------------------------------------------------------

check('fgets, of a pipe', static fn($process, int $n) => \fgets($process), static fn() => \popen('sleep 0.05; echo first; sleep 0.05; echo second', 'r'), in: 'fgets');
check('stream_get_contents, of a pipe', static fn($process, int $n) => \stream_get_contents($process), static fn() => \popen('sleep 0.05; echo first; sleep 0.05; echo second', 'r'), in: 'stream_get_contents');
check('pclose', static fn($_, int $n) => \pclose(\popen("sleep 0.05; exit $n", 'r')), in: 'pclose');
check('proc_close', static fn($_, int $n) => \proc_close(\proc_open("sleep 0.05; exit $n", [], $pipes)), in: 'proc_close');
check('sleep', static fn($_, int $n) => \usleep(20_000), in: 'usleep');
check('flock, of two', static function ($path, int $n) { $f = \fopen($path, 'c'); \flock($f, LOCK_EX); \usleep(20_000); return \flock($f, LOCK_UN); }, static function () { \touch($path = scratch()); return $path; }, in: ['flock', 'usleep']);
check('gethostbyname', static fn($_, int $n) => \gethostbyname(text('127.0.0.1')), in: 'gethostbyname');
check('mail', static fn($_, int $n) => noisily(fn() => \mail(text('a@localhost'), text("s$n"), text('body'), ['X-A' => 'b'])), in: 'mail');
check('stream_select', static function ($_, int $n) {
    [$a, $b] = \stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    $child = \proc_open(['sh', '-c', "sleep 0.05; echo $n"], [1 => $b], $pipes);
    $read = [$a];
    $write = $except = null;
    return [\stream_select($read, $write, $except, 5), \fgets($a), \proc_close($child)];
}, in: ['stream_select', 'proc_close']);
