<?php
namespace Matrix;

// It looks at coroutines from outside; what is called of it takes numbers and texts.
check('ExcimerProfiler::setPeriod', static fn($p, int $n) => noisily(fn() => $p->setPeriod(null)), static fn() => new \ExcimerProfiler, in: 'ExcimerProfiler::setPeriod');
check('ExcimerProfiler::setMaxDepth', static fn($p, int $n) => noisily(fn() => $p->setMaxDepth(5.5)), static fn() => new \ExcimerProfiler, in: 'ExcimerProfiler::setMaxDepth');
check('ExcimerTimer::setInterval', static fn($t, int $n) => noisily(fn() => $t->setInterval(null)), static fn() => new \ExcimerTimer, in: 'ExcimerTimer::setInterval');
check('ExcimerTimer::setCallback', static function ($_, int $n) {
    $called = 0;
    $timer = new \ExcimerTimer;
    $timer->setInterval(0.001);
    $timer->setCallback(static function () use (&$called) { $called++; });
    $timer->start();
    for ($i = 0; $i < 1000 && !$called; $i++) { \usleep(1000); }
    $timer->stop();
    return [$called > 0, noisily(fn() => $timer->setPeriod(null))];
}, in: 'ExcimerTimer::setPeriod');
