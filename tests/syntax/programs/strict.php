#!/usr/bin/env php
<?php declare(strict_types=1);
// Strictly typed, in namespaces with functions of the operators' names; lines and data at the end stay where they are.
namespace App\Model {
    function await(mixed $x): string { return 'own await ' . get_debug_type($x); }
    function spawn(callable $f): string { return 'own spawn'; }
    function suspend(): string { return 'own suspend'; }
    function half(int $n): float { return $n / 2; }
    class Spawn { const await = 'constant', spawn = 'other'; public string $suspend = 'property'; public function until(): string { return __METHOD__; } }
}

namespace App {
    use App\Model\{Spawn};
    use function App\Model\half;
    use App\Model as M;

    enum suspend: string { case await = 'case'; case spawn = 'another'; }
    function until(int $until, int $await = 0): int { return $until - $await; }

    echo await spawn half(5), ' ', await spawn M\half(n: 7), ' ', await spawn namespace\Model\half(8), "\n";
    try {
        await spawn half('5');
    } catch (\TypeError $e) {
        echo explode(', called', $e->getMessage())[0], ' ', $e->getLine(), "\n";
    }
    $spawn = new Spawn;
    echo M\await(1), ', ', M\spawn(fn() => 1), ', ', M\suspend(), ', ', Spawn::await, ', ', $spawn->suspend, "\n";
    echo await spawn $spawn->until(), ' ', suspend::await->value, ' ', until(until: 3, await: 1), ' ', __LINE__, "\n";
    goto await;
    echo "jumped over\n";
    await:
    echo await spawn
        \sprintf('%s line %d of %s', __NAMESPACE__, __LINE__, basename(__FILE__)), "\n";
    $file = fopen(__FILE__, 'r');
    fseek($file, __COMPILER_HALT_OFFSET__);
    echo trim(stream_get_contents($file)), "\n";
}
__halt_compiler();
spawn data(); await more;
