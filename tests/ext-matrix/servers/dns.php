<?php
/*
 * A name server with latency, for the cases that need `dns`.
 *
 *   php -n dns.php ADDRESS
 *
 * It knows the names nN.wMS.test, and answers for them after MS milliseconds: A 10.1.0.N, AAAA fd00::N, MX 10
 * mail.nN.test, TXT "text of N"; local.wMS.test is 127.0.0.1, many.wMS.test has 100 addresses; N.0.1.10.in-addr.arpa is nN.test, after 300 ms.
 * countN.wMS.test is 10.2.0.K at the K-th question for its address. silent.test gets no answer; whatever else there is no such name. It ends with its standard input.
 */
[, $address] = $argv;

const TYPES = [1 => 'A', 12 => 'PTR', 15 => 'MX', 16 => 'TXT', 28 => 'AAAA'];

function name(string $name): string
{
    return implode(array_map(fn($label) => chr(strlen($label)) . $label, explode('.', $name))) . "\0";
}

/** [milliseconds, the records' data]; null when there is no such name. */
function look_up(string $name, string $type): ?array
{
    if (preg_match('/^(n(\d+)|local|many)\.w(\d+)\.test$/', $name, $m)) {
        $n = (int) $m[2];
        $data = match (true) {
            $m[1] === 'many' => $type === 'A' ? array_map(fn($n) => inet_pton("10.1.1.$n"), range(1, 100)) : [],
            $m[1] === 'local' => $type === 'A' ? [inet_pton('127.0.0.1')] : [],
            $type === 'A' => [inet_pton("10.1.0.$n")],
            $type === 'AAAA' => [inet_pton('fd00::' . dechex($n))],
            $type === 'MX' => [pack('n', 10) . name("mail.n$n.test")],
            $type === 'TXT' => [chr(strlen("text of $n")) . "text of $n"],
            default => [],
        };
        return [(int) $m[3], $data];
    }
    if (preg_match('/^count\d+\.w(\d+)\.test$/', $name, $m)) {
        static $questions = [];
        return [(int) $m[1], $type === 'A' ? [inet_pton('10.2.0.' . $questions[$name] = ($questions[$name] ?? 0) + 1)] : []];
    }
    if (preg_match('/^(\d+)\.0\.1\.10\.in-addr\.arpa$/', $name, $m)) {
        return [300, $type === 'PTR' ? [name("n$m[1].test")] : []];
    }
    return null;
}

$server = stream_socket_server("udp://$address", $code, $message, STREAM_SERVER_BIND) ?: exit("dns: $address: $message\n");
echo "ready\n";
$timers = []; // [when, answer, whom], unsorted: there are few
while (true) {
    $now = microtime(true);
    foreach ($timers as $key => [$when, $answer, $whom]) {
        if ($when <= $now) {
            stream_socket_sendto($server, $answer, 0, $whom);
            unset($timers[$key]);
        }
    }
    $wait = $timers ? max(0, min(array_column($timers, 0)) - $now) : 3600;
    $read = [STDIN, $server];
    $write = $except = null;
    stream_select($read, $write, $except, (int) $wait, (int) (fmod($wait, 1) * 1e6));
    if (in_array(STDIN, $read, true) && fread(STDIN, 1024) === '') {
        exit;
    }
    if (!in_array($server, $read, true)) {
        continue;
    }
    $query = stream_socket_recvfrom($server, 1500, 0, $whom);
    $end = 12;
    $labels = [];
    while (($length = ord($query[$end])) > 0) {
        $labels[] = substr($query, $end + 1, $length);
        $end += $length + 1;
    }
    $question = substr($query, 12, $end + 5 - 12);
    $name = strtolower(implode('.', $labels));
    if ($name === 'silent.test') {
        continue;
    }
    $type = unpack('n', $query, $end + 1)[1];
    [$ms, $data] = look_up($name, TYPES[$type] ?? '') ?? [preg_match('/\.w(\d+)\./', $name, $m) ? (int) $m[1] : 0, null];
    $answer = substr($query, 0, 2) . pack('n5', $data === null ? 0x8583 : 0x8580, 1, count($data ?? []), 0, 0) . $question;
    foreach ($data ?? [] as $record) {
        $answer .= "\xc0\x0c" . pack('nnNn', $type, 1, 60, strlen($record)) . $record;
    }
    $timers[] = [microtime(true) + $ms / 1000, $answer, $whom];
}
