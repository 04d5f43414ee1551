<?php
/**
 * What the compiler gets to read: PHP libraries of this machine, and sources made from the templates in sources/.
 *
 * A template begins with the head of a file; behind each `~~~` is a method. `«await |\Async\await(»` is what an operator
 * is in the source, and what is to become of it. Names and numbers differ from one copy to the next.
 */

/** A source, and what it is rewritten to; the same where it has no operators. */
final readonly class Source
{
    public function __construct(public string $name, public string $text, public string $plain) {}
}

enum Corpus: int
{
    /** Libraries, which know nothing of the operators. */
    case Libraries = 0;
    /** `spawn`, `await` and `suspend` are functions, methods, keys, as in libraries of asynchronous PHP. */
    case Names = 1;
    /** The same, and some comments have such a word in them. */
    case Comments = 2;
    /** Operators as one uses them: one in every 16 lines. */
    case Operators = 3;
    /** Seven in ten lines. */
    case Dense = 4;

    /** @return list<Source> */
    public function sources(): array
    {
        return match ($this) {
            self::Libraries => libraries(),
            self::Names => made('words'),
            self::Comments => array_map(
                static fn(Source $s): Source => new Source($s->name, ...array_fill(0, 2, str_replace(
                    'Submits a task, and gives what it will return.',
                    'Submits a task, and gives a future with which to await what it will return.',
                    $s->text,
                ))),
                made('words'),
            ),
            self::Operators => made('operators'),
            self::Dense => made('dense'),
        };
    }

    public function hasOperators(): bool
    {
        return $this === self::Operators || $this === self::Dense;
    }
}

/** Guzzle, Symfony's client, and what they need. By name: whatever else is installed beside them is no part of the corpus. */
const LIBRARIES = [
    'GuzzleHttp', 'Psr/Container', 'Psr/Http', 'Psr/Log', 'Symfony/Component/HttpClient', 'Symfony/Contracts/Deprecation',
    'Symfony/Contracts/HttpClient', 'Symfony/Contracts/Service',
];

/**
 * The libraries as the distribution has them; none where one of them is not installed.
 *
 * @return list<Source>
 */
function libraries(): array
{
    $files = [];
    foreach (LIBRARIES as $folder) {
        $path = stream_resolve_include_path($folder);
        if ($path === false) {
            return [];
        }
        foreach (new RecursiveIteratorIterator(new RecursiveDirectoryIterator($path)) as $file) {
            if ($file->getExtension() === 'php') {
                $files[] = $file->getPathname();
            }
        }
    }
    sort($files);
    return array_map(static function (string $file): Source {
        $text = file_get_contents($file);
        return new Source($file, $text, $text);
    }, $files);
}

/**
 * Files of 5 to 100 KB from a template, the same ones each time.
 *
 * @return list<Source>
 */
function made(string $template): array
{
    $things = ['order', 'invoice', 'product', 'customer', 'shipment', 'category', 'payment', 'review', 'voucher', 'address'];
    $text = file_get_contents(dirname(__DIR__) . "/sources/$template.txt");
    [$head, $methods] = [strstr($text, "~~~\n", true), explode("~~~\n", substr(strstr($text, "~~~\n"), 4))];
    $sources = [];
    foreach ([5, 5, 5, 8, 8, 8, 12, 12, 20, 30, 50, 100] as $number => $kilobytes) {
        [$source, $plain] = ['', ''];
        $add = static function (string $part, int $copy) use (&$source, &$plain, $number, $things): void {
            $part = strtr($part, [
                '%thing%' => $thing = $things[($number + $copy) % count($things)],
                '%Thing%' => ucfirst($thing),
                '%N%' => (string) (17 * $number + 3 * $copy + 5),
            ]);
            $source .= preg_replace('/«([^|»]*)\|[^»]*»/', '$1', $part);
            $plain .= preg_replace('/«[^|»]*\|([^»]*)»/', '$1', $part);
        };
        $add($head, 0);
        for ($copy = 1; strlen($source) < 1024 * $kilobytes; $copy++) {
            foreach ($methods as $method) {
                $add("\n$method", $copy);
            }
        }
        $add("}\n", 0);
        $sources[] = new Source("/srv/app/src/$template/File$number.php", $source, $plain);
    }
    return $sources;
}
