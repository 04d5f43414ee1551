<?php
/*
 * Finds functions of Rust and C by their names, and what is in them by its kind: no more of a language is known here than its
 * words, brackets, strings and comments.
 */

declare(strict_types=1);

namespace Mutations;

/** A function in a source. */
final readonly class Place
{
    /** @param list<array{string, int, int}> $tokens of the body, from its brace to that at its end: text, begin, end */
    public function __construct(public string $file, private string $text, private array $tokens) {}

    /** The text of the file with a rule of the function disabled, in the words of the table. */
    public function with(string $what): string
    {
        return match (true) {
            (bool) preg_match('/^condition (\d+) is (true|false)$/', $what, $found) => $this->condition((int) $found[1], $found[2]),
            (bool) preg_match('/^without (\w+)(?: (\d+))?$/', $what, $found) => $this->around($found[1], null, '', (int) ($found[2] ?? 0)),
            (bool) preg_match('/^returns (.+)$/', $what, $found) => $this->edited($this->tokens[0][2], $this->tokens[count($this->tokens) - 1][1], " $found[1] "),
            default => throw new \RuntimeException("what is this: $what"),
        };
    }

    /** Puts something before and behind the statement that calls a function; without it, if that is null. */
    public function around(string $callee, ?string $before, string $behind, int $which = 0): string
    {
        $calls = array_keys(array_filter($this->tokens, fn (array $token, int $at) => $token[0] === $callee && $this->tokens[$at + 1][0] === '(', ARRAY_FILTER_USE_BOTH));
        if ($which === 0 ? count($calls) !== 1 : !isset($calls[$which - 1])) {
            throw new \RuntimeException("$this->file: the function has " . count($calls) . " calls of $callee");
        }
        [$begin, $end] = $this->statement($calls[max($which - 1, 0)]);
        return $this->edited($begin, $end, $before === null ? '{}' : "$before " . rtrim(substr($this->text, $begin, $end - $begin), ';') . "; $behind");
    }

    /** The N-th `if` or `while`, guards of arms included. */
    private function condition(int $number, string $value): string
    {
        $heads = array_keys(array_filter($this->tokens, static fn (array $token) => $token[0] === 'if' || $token[0] === 'while'));
        $at = $heads[$number - 1] ?? throw new \RuntimeException("$this->file: the function has " . count($heads) . ' conditions');
        $is_c = str_ends_with($this->file, '.c');
        $last = $is_c ? $this->closing($at + 1) : $at;
        for ($depth = 0; !$is_c && ($depth > 0 || !in_array($this->tokens[$last + 1][0], ['{', '=>'], true)); $last++) {
            $depth += self::depth($this->tokens[$last + 1][0]);
        }
        [$begin, $end] = [$this->tokens[$at + 1][1], $this->tokens[$last][2]];
        $text = substr($this->text, $begin, $end - $begin);
        $binds = !$is_c && in_array('let', array_column(array_slice($this->tokens, $at, $last - $at), 0), true);
        return $this->edited($begin, $end, match (true) {
            $is_c => '(' . ($value === 'true' ? '1 ||' : '0 &&') . " $text)",
            $value === 'false' => $binds ? "false && $text" : "false && ($text)",
            $binds => throw new \RuntimeException("$this->file: condition $number binds something"),
            default => "true || ($text)",
        });
    }

    /** @return array{int, int} where the statement, or the arm of a match, begins and ends that has a token in it */
    private function statement(int $at): array
    {
        for ($first = $at, $depth = 0; ; $first--) {
            $before = $this->tokens[$first - 1][0];
            // What is behind a block is the next statement, if it does not go on with what the block is.
            if ($depth === 0 && ($before === ';' || $before === '{' || $before === '=>' || $before === '}' && !in_array($this->tokens[$first][0], ['.', '?'], true))) {
                break;
            }
            $depth = max($depth - self::depth($before), 0);
        }
        for ($last = $at, $depth = 0; ; $last++) {
            $next = $this->tokens[$last + 1][0];
            if ($depth === 0 && ($next === ';' || $next === '}' || $next === ',' && $this->tokens[$first - 1][0] === '=>')) {
                break;
            }
            $depth = max($depth + self::depth($next), 0);
        }
        return [$this->tokens[$first][1], $this->tokens[$last + ($this->tokens[$last + 1][0] === ';' ? 1 : 0)][2]];
    }

    /** The token that closes the bracket. */
    private function closing(int $at): int
    {
        for ($depth = 0; ; $at++) {
            $depth += self::depth($this->tokens[$at][0]);
            if ($depth === 0) {
                return $at;
            }
        }
    }

    public static function depth(string $token): int
    {
        return match ($token) {
            '(', '[', '{' => 1,
            ')', ']', '}' => -1,
            default => 0,
        };
    }

    private function edited(int $begin, int $end, string $by): string
    {
        return substr_replace($this->text, $by, $begin, $end - $begin);
    }
}

/** The only function of that name in a crate; `$owner`, which may be empty, is the type that it is of, or its module. */
function place(string $crate, string $owner, string $function): Place
{
    $found = [];
    foreach (new \RecursiveIteratorIterator(new \RecursiveDirectoryIterator($crate, \FilesystemIterator::SKIP_DOTS)) as $file => $_) {
        if (!preg_match('/\.(rs|c)$/', $file) || preg_match('~/tests?/|/tests\.rs$~', $file) || !str_contains($text = file_get_contents($file), $function)) {
            continue;
        }
        $module = basename(preg_replace('~(/mod|/lib)?\.(rs|c)$~', '', $file));
        foreach (functions($file, $text, $function) as [$type, $place]) {
            if ($owner === '' || $owner === $type || $owner === $module) {
                $found[] = $place;
            }
        }
    }
    count($found) === 1 || throw new \RuntimeException(basename($crate) . ' has ' . count($found) . ' functions ' . ltrim("$owner::$function", ':'));
    return $found[0];
}

/** @return list<array{string, Place}> the functions of that name in a file, each with the type that it is of */
function functions(string $file, string $text, string $function): array
{
    preg_match_all('~//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|[bc]?"(?:\\\\.|[^"\\\\])*"|b?\'(?:\\\\[^\']*|[^\\\\\'])\'|\'[A-Za-z_]\w*|[A-Za-z_]\w*|\d[\w.]*|=>|->|::|\S~s', $text, $words, PREG_OFFSET_CAPTURE);
    $tokens = [];
    foreach ($words[0] as [$word, $at]) {
        if (!str_starts_with($word, '//') && !str_starts_with($word, '/*')) {
            $tokens[] = [$word, $at, $at + strlen($word)];
        }
    }
    $is_c = str_ends_with($file, '.c');
    $found = $types = []; // the types, by the depth of their braces
    $depth = 0;
    $body = static function (int $from) use ($tokens): array {
        for ($to = $from, $depth = 0; ($depth += Place::depth($tokens[$to][0])) > 0; $to++);
        return array_slice($tokens, $from, $to - $from + 1);
    };
    foreach ($tokens as $at => [$word]) {
        if ($word === 'impl' && in_array($tokens[$at - 1][0] ?? '}', ['}', '{', ';', ']', 'unsafe'], true)) {
            $types[$depth] = type_of_impl(array_column(array_slice($tokens, $at + 1, 60), 0));
        }
        if ($word === $function && ($is_c ? $depth === 0 && $tokens[$at + 1][0] === '(' : $tokens[$at - 1][0] === 'fn')) {
            for ($brace = $at, $inside = 0; $inside > 0 || !in_array($tokens[$brace][0], ['{', ';'], true); $brace++) {
                $inside += Place::depth($tokens[$brace][0]);
            }
            if ($tokens[$brace][0] === '{') {
                $found[] = [$types[$depth - 1] ?? '', new Place($file, $text, $body($brace))];
            }
        }
        $depth += Place::depth($word);
        if ($word === '}') {
            unset($types[$depth]);
        }
    }
    return $found;
}

/** `Channel` of `impl<T> Drop for Channel<T> where T: Copy {`. @param list<string> $words after `impl` */
function type_of_impl(array $words): string
{
    $type = '';
    $depth = 0;
    foreach ($words as $word) {
        if ($word === '{' || $word === 'where') {
            break;
        }
        $depth += match ($word) { '<' => 1, '>' => -1, default => 0 };
        $type = match (true) {
            $word === 'for' => '',
            $depth === 0 && preg_match('/^[A-Za-z_]\w*$/', $word) === 1 => $word,
            default => $type,
        };
    }
    return $type;
}
