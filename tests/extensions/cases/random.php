<?php
namespace Matrix;

use Random\{Engine, Randomizer};

final class SlowEngine implements Engine
{
    private int $state = 12345;
    public function generate(): string { pause(); return \pack('P', $this->state = $this->state * 69069 + 1 & 0x7fffffff); }
}
$slow = static fn() => new Randomizer(new SlowEngine);
check('Randomizer::getBytes', static fn($r, int $n) => \bin2hex($r->getBytes(20)), $slow, in: 'Random\Randomizer::getBytes');
check('Randomizer::getInt', static fn($r, int $n) => [$r->getInt(1, 1000 * $n)], $slow, in: 'Random\Randomizer::getInt');
check('Randomizer::nextInt', static fn($r, int $n) => $r->nextInt(), $slow, in: 'Random\Randomizer::nextInt');
check('Randomizer::shuffleArray', static fn($r, int $n) => $r->shuffleArray([1, 2, 3, 4, 5, 6]), $slow, in: 'Random\Randomizer::shuffleArray');
check('Randomizer::shuffleBytes', static fn($r, int $n) => $r->shuffleBytes(text("abcdef$n")), $slow, in: 'Random\Randomizer::shuffleBytes');
check('Randomizer::pickArrayKeys', static fn($r, int $n) => $r->pickArrayKeys([1, 2, 3, 4, 5, 6, 7, 8], 3), $slow, in: 'Random\Randomizer::pickArrayKeys');
check('random_int', static fn($_, int $n) => noisily(fn() => \random_int($n, $n + 0.5)), in: 'random_int');
check('mt_rand', static fn($_, int $n) => noisily(fn() => \mt_rand($n, $n + 0.5)), in: 'mt_rand');
