<?php
/**
 * Messages from one coroutine to another through a buffer of $capacity: ns each.
 *
 * The plain side is AMPHP's queue on PHP's own fibers. Its sources are in the folder that SPINDLE_SOURCES names, as
 * amphp/amp, amphp/pipeline and revoltphp/event-loop.
 */
require __DIR__ . '/../lib/suite.php';

bench('ns', warm: 1000,
    spindle: static function (int $n, int $capacity): float {
        $channel = new Async\Channel($capacity);
        $sender = static function () use ($channel, $n): void {
            for ($i = 0; $i < $n; $i++) {
                $channel->send($i);
            }
            $channel->close();
        };
        $start = now();
        Async\spawn($sender);
        $sum = 0;
        for ($i = 0; $i < $n; $i++) {
            $sum += $channel->recv();
        }
        $ns = now() - $start;
        check($sum === intdiv($n * ($n - 1), 2), "the sum of the messages is $sum");
        return $ns / $n;
    },
    plain: static function (int $n, int $capacity): float {
        $sources = getenv('SPINDLE_SOURCES');
        if (!is_string($sources) || !is_file("$sources/amphp/pipeline/src/Queue.php")) {
            echo "skipped: SPINDLE_SOURCES names no folder with AMPHP's sources\n";
            exit(0);
        }
        static $loaded = false;
        if (!$loaded) {
            $loaded = true;
            $folders = [
                'Amp\\Pipeline\\' => 'amphp/pipeline/src', 'Amp\\' => 'amphp/amp/src',
                'Revolt\\EventLoop\\' => 'revoltphp/event-loop/src/EventLoop', 'Revolt\\' => 'revoltphp/event-loop/src',
            ];
            spl_autoload_register(static function (string $class) use ($sources, $folders): void {
                foreach ($folders as $prefix => $folder) {
                    $file = "$sources/$folder/" . strtr(substr($class, strlen($prefix)), '\\', '/') . '.php';
                    if (str_starts_with($class, $prefix) && is_file($file)) {
                        require $file;
                        return;
                    }
                }
            });
            require "$sources/amphp/amp/src/functions.php";
            require "$sources/amphp/amp/src/Future/functions.php";
            require "$sources/amphp/amp/src/Internal/functions.php";
        }
        $queue = new Amp\Pipeline\Queue($capacity);
        $start = now();
        Amp\async(static function () use ($queue, $n): void {
            for ($i = 0; $i < $n; $i++) {
                $queue->push($i);
            }
            $queue->complete();
        });
        $sum = 0;
        foreach ($queue->iterate() as $value) {
            $sum += $value;
        }
        $ns = now() - $start;
        check($sum === intdiv($n * ($n - 1), 2), "the sum of the messages is $sum");
        return $ns / $n;
    },
);
