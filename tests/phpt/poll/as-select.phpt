--TEST--
Async\Poll finds what stream_select() finds: streams at random, of which nearly all, few or most are ready
--FILE--
<?php
require __DIR__ . '/kit.inc';

/** What both say in so many steps; an error where they differ. */
function compared(int $seed, int $steps): string
{
    mt_srand($seed);
    $poll = new Async\Poll;
    $streams = [];
    $next = 0;
    $add = function () use (&$streams, &$next, $poll): void {
        [$ours, $peer] = pair(); // what is written to these has arrived
        stream_set_blocking($ours, false);
        stream_set_blocking($peer, false);
        $poll->watchRead($ours);
        $streams[$next++] = (object) ['ours' => $ours, 'peer' => $peer, 'reads' => true, 'writes' => false];
    };
    for ($i = 0; $i < 12; $i++) $add();
    $select = function (array $streams, bool $writes): array {
        // One by one: PHP's own returns what is in its buffers alone.
        $found = array_filter($streams, function ($stream) use ($writes) {
            [$read, $write, $except] = [$writes ? null : [$stream], $writes ? [$stream] : null, null];
            return stream_select($read, $write, $except, 0) > 0;
        });
        return array_map('intval', array_values($found));
    };
    $sorted = function (array $streams): array {
        $streams = array_map('intval', $streams);
        sort($streams);
        return $streams;
    };
    for ($step = 0; $step < $steps; $step++) {
        $phase = intdiv($step, 40) % 3;
        foreach ($streams as $each) {
            mt_rand(0, 99) < [95, 10, 70][$phase] && is_resource($each->peer) && @fwrite($each->peer, 'x');
        }
        for ($changes = mt_rand(0, 3); $changes > 0; $changes--) {
            $key = array_rand($streams);
            $each = $streams[$key];
            $is_open = is_resource($each->ours);
            switch (mt_rand(0, 9)) {
                case 0:
                    if (count($streams) < 40) $add();
                    break;
                case 1:
                    $each->reads = false;
                    $poll->unwatchRead($each->ours);
                    break;
                case 2:
                    $each->reads = true;
                    $poll->watchRead($each->ours);
                    break;
                case 3:
                    $each->writes = !$each->writes;
                    $each->writes ? $poll->watchWrite($each->ours) : $poll->unwatchWrite($each->ours);
                    break;
                case 4:
                    if (count($streams) > 8 && mt_rand(0, 3) === 0) {
                        $poll->unwatchRead($each->ours);
                        $poll->unwatchWrite($each->ours);
                        fclose($each->ours);
                        unset($streams[$key]);
                    }
                    break;
                case 5:
                    if (is_resource($each->peer) && mt_rand(0, 5) === 0) fclose($each->peer);
                    break;
                case 6: // some is left in PHP's buffer
                    if (is_resource($each->peer)) @fwrite($each->peer, str_repeat('y', 9000));
                    fread($each->ours, 100);
                    break;
                case 7: // the event loop is asked
                    usleep(1);
                    break;
                case 8: // another coroutine reads
                    Async\await(Async\spawn(fn() => fread($each->ours, 10)));
                    break;
            }
        }
        for ($waits = mt_rand(1, 3); $waits > 0; $waits--) {
            $watched = fn(string $what) => array_column(array_filter($streams, fn($each) => $each->$what), 'ours');
            $expected = [$select($watched('reads'), false), $select($watched('writes'), true)];
            [$read, $write] = $poll->wait($expected === [[], []] ? 0 : null);
            $found = [$sorted($read), $sorted($write)];
            $found == array_map($sorted, $expected) || throw new Error("Seed $seed, step $step: found " . json_encode($found) . ', and not ' . json_encode($expected));
        }
        foreach ($read as $stream) mt_rand(0, 99) < 85 && fread($stream, mt_rand(1, 9000));
    }
    return "$steps steps";
}

foreach ([1, 2, 3] as $seed) echo compared($seed, 600), "\n";
?>
--EXPECT--
600 steps
600 steps
600 steps
