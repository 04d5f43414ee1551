<?php
// needs: snmp peer
namespace Matrix;

\snmp_set_valueretrieval(SNMP_VALUE_PLAIN);
$silent = \stream_socket_server('udp://127.0.0.1:0', $code, $message, STREAM_SERVER_BIND);
$nobody = \stream_socket_get_name($silent, false);
$agent = '127.0.0.1:' . env('SPINDLE_SNMP_PORT');
$session = static function (string $of) { $s = new \SNMP(\SNMP::VERSION_2C, $of, 'public', 50_000, 0); $s->valueretrieval = SNMP_VALUE_PLAIN; return $s; };
$oid = [1 => '.1.3.6.1.2.1.1.4.0', 2 => '.1.3.6.1.2.1.1.6.0'];
check('SNMP::get, of objects', static fn($s, int $n) => \array_values($s->get(texts($oid[$n], '.1.3.6.1.2.1.1.5.0'))), static fn() => $session($agent), in: 'SNMP::get');
check('SNMP::get, in vain', static fn($s, int $n) => noisily(fn() => $s->get($oid[$n])), static fn() => $session($nobody), in: 'SNMP::get', follows: true);
check('SNMP::walk, in vain', static fn($s, int $n) => noisily(fn() => $s->walk($oid[$n])), static fn() => $session($nobody), in: 'SNMP::walk', follows: true);
check('snmp2_get', static fn($_, int $n) => noisily(fn() => \snmp2_get($n === 1 ? $nobody : $agent, 'public', $oid[$n], 50_000, 0)), in: 'snmp2_get', follows: true);
check('snmp2_walk', static fn($_, int $n) => noisily(fn() => \snmp2_walk(text($agent), text('public'), ".1.3.6.1.none$n")), in: 'snmp2_walk');
check('snmp_read_mib', static fn($_, int $n) => noisily(fn() => \snmp_read_mib(text("/none$n"))), in: 'snmp_read_mib');
