<?php
// needs: redis
// Redis by PHP streams, the way Predis and other libraries in plain PHP talk to it.
namespace Matrix;

final class RawRedis
{
    private $stream;

    public function __construct()
    {
        $address = 'tcp://' . env('SPINDLE_REDIS_HOST') . ':' . env('SPINDLE_REDIS_PORT');
        $this->stream = \stream_socket_client($address, $code, $message, 5);
        \stream_set_timeout($this->stream, 10);
    }

    public function __call(string $command, array $arguments): mixed
    {
        $this->send($command, ...$arguments);
        return $this->read();
    }

    public function send(string ...$words): void
    {
        $data = '*' . \count($words) . "\r\n";
        foreach ($words as $word) {
            $data .= '$' . \strlen($word) . "\r\n$word\r\n";
        }
        while ($data !== '') {
            $data = \substr($data, \fwrite($this->stream, $data));
        }
    }

    public function read(): mixed
    {
        $line = \rtrim(\fgets($this->stream), "\r\n");
        $value = \substr($line, 1);
        return match ($line[0]) {
            '+' => $value,
            '-' => throw new \RuntimeException($value),
            ':' => (int) $value,
            '$' => $value === '-1' ? null : $this->bulk((int) $value),
            '*' => $value === '-1' ? null : \array_map(fn() => $this->read(), \array_fill(0, (int) $value, 0)),
        };
    }

    private function bulk(int $length): string
    {
        $data = '';
        while (\strlen($data) < $length + 2) {
            $data .= \fread($this->stream, $length + 2 - \strlen($data));
        }
        return \substr($data, 0, $length);
    }
}

matrix('a blocking pop', function (int $i): array {
    $redis = new RawRedis;
    $key = unique("key_$i");
    return [$redis->blpop($key, (string) seconds()), $redis->rpush($key, 'a', "b $i"), $redis->blpop($key, '1')[1], $redis->lrange($key, '0', '-1'), $redis->del($key)];
});

matrix('a pipeline with a big answer', function (int $i): array {
    $redis = new RawRedis;
    $key = unique("key_$i");
    for ($n = 0; $n < 50; $n++) {
        $redis->send('append', $key, \str_repeat("$i.$n ", 2000));
    }
    $lengths = \array_map(fn() => $redis->read(), \range(1, 50));
    $redis->blpop(unique('empty'), (string) seconds());
    return [$lengths[49], \md5($redis->get($key)), $redis->del($key)];
}, n: 10);
