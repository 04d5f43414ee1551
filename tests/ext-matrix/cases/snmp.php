<?php
// needs: snmp ext:snmp
// SNMP, over UDP. The agent is fast; one that never answers makes them wait.
namespace Matrix;

\snmp_set_valueretrieval(SNMP_VALUE_PLAIN);
$agent = '127.0.0.1:' . env('SPINDLE_SNMP_PORT');

matrix('get, getnext, walk', function (int $i) use ($agent): array {
    $session = new \SNMP(\SNMP::VERSION_2C, $agent, 'public');
    $session->valueretrieval = SNMP_VALUE_PLAIN;
    $done = [$session->get('.1.3.6.1.2.1.1.5.0'), $session->get(['.1.3.6.1.2.1.1.4.0', '.1.3.6.1.2.1.1.6.0'])];
    $done[] = $session->getnext('.1.3.6.1.2.1.1.5.0');
    $done[] = \count($session->walk('.1.3.6.1.2.1.1')) > 5;
    return [...$done, $session->close(), \snmp2_get($agent, 'public', '.1.3.6.1.2.1.1.6.0')];
}, n: 10, evidence: 'none');

$silent = \stream_socket_server('udp://127.0.0.1:0', $code, $message, STREAM_SERVER_BIND);
$nobody = \stream_socket_get_name($silent, false);
// (the library waits for all sessions in one call: calls take turns)
matrix('an agent that does not answer', function () use ($nobody): array {
    $session = new \SNMP(\SNMP::VERSION_2C, $nobody, 'public', ms(250) * 1000, 1);
    return [@$session->get('.1.3.6.1.2.1.1.5.0'), $session->getErrno() === \SNMP::ERRNO_TIMEOUT];
}, n: 3, ms: 500, evidence: 'ticks');

matrix('answers while another one waits in vain', function (int $i) use ($agent, $nobody): mixed {
    return @\snmp2_get($i === 0 ? $nobody : $agent, 'public', '.1.3.6.1.2.1.1.6.0', ms(200) * 1000, 0);
}, n: 5, ms: 200, evidence: 'ticks');

$shared = new \SNMP(\SNMP::VERSION_2C, $agent, 'public');
$shared->valueretrieval = SNMP_VALUE_PLAIN;
matrix('one session', fn(int $i) => $shared->get($i % 2 ? '.1.3.6.1.2.1.1.4.0' : '.1.3.6.1.2.1.1.6.0'), n: 10, evidence: 'none');

cancelled('get', fn() => (new \SNMP(\SNMP::VERSION_2C, $nobody, 'public', 20_000_000, 0))->get('.1.3.6.1.2.1.1.5.0'),
    fn() => \snmp2_get($agent, 'public', '.1.3.6.1.2.1.1.6.0'));
