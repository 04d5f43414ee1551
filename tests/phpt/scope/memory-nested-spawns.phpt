--TEST--
A million coroutines, awaited one after another in scopes three levels deep that come and go, leave no memory behind
--FILE--
<?php
use Async\Scope;
use function Async\{await, currentScope, getCoroutines, spawn};

require __DIR__ . '/kit.inc';

function resident(): int
{
    preg_match('/^VmRSS:\s+(\d+) kB/m', file_get_contents('/proc/self/status'), $match);
    return 1024 * (int) $match[1];
}

/** Three scopes, one below the other; $count coroutines in the innermost, spawned in both ways. */
function descend(int $count): int
{
    $outer = new Scope;
    return await($outer->spawn(function() use ($count): int {
        $middle = Scope::inherit();
        return await($middle->spawn(function() use ($count): int {
            $inner = Scope::inherit(currentScope());
            return await($inner->spawn(function() use ($count, $inner): int {
                $sum = 0;
                for ($i = 0; $i < $count; $i += 2) {
                    $sum += await(spawn(fn(int $x): int => $x, 1));
                    $sum += await($inner->spawn(fn(int $x): int => $x, 1));
                }
                return $sum;
            }));
        }));
    }));
}

/** @return array{int, int, int} what they returned in all, and what memory has grown by: PHP's, the process's */
function rounds(int $rounds, int $count): array
{
    gc_collect_cycles();
    [$used, $resident, $sum] = [memory_get_usage(), resident(), 0];
    for ($i = 0; $i < $rounds; $i++) {
        $sum += descend($count);
    }
    gc_collect_cycles();
    return [$sum, memory_get_usage() - $used, resident() - $resident];
}

rounds(100, 4);
rounds(100, 20);
// many in few scopes, and few in each of many
foreach ([[500, 1_000], [50_000, 10]] as [$rounds, $count]) {
    [$sum, $used, $resident] = rounds($rounds, $count);
    var_dump($sum);
    T\check('PHP\'s memory is flat', $used < 50_000, "grown by $used");
    T\check('the process\'s is', $resident < 8 << 20, "grown by $resident");
}
var_dump(count(getCoroutines()), count(Async\globalScope()->getChildScopes()));
?>
--EXPECT--
int(500000)
PHP's memory is flat: yes
the process's is: yes
int(500000)
PHP's memory is flat: yes
the process's is: yes
int(1)
int(0)
