--TEST--
H17 collators keep the one that sorts in their extension's globals
--EXTENSIONS--
intl
--FILE--
<?php
use function Async\{spawn, suspend};

require __DIR__ . '/kit.inc';

final class Word
{
    public function __construct(private string $text) {}
    public function __toString(): string { suspend(); return $this->text; }
}
$sorted = function(string $locale) {
    $words = array_map(fn($t) => new Word($t), ['z', 'ä', 'a', 'ö', 'o', 'y']);
    (new Collator($locale))->sort($words);
    return implode(array_map(strval(...), $words));
};
echo implode("\n", T\all([spawn($sorted, 'de'), spawn($sorted, 'sv'), spawn($sorted, 'de'), spawn($sorted, 'sv')])), "\n";
?>
--EXPECT--
aäoöyz
aoyzäö
aäoöyz
aoyzäö
