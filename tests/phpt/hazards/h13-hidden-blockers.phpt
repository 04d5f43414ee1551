--TEST--
H13 calls that block inside libc: answers as outside, and others run while they last
--EXTENSIONS--
posix
--FILE--
<?php
use function Async\{await, spawn};

require __DIR__ . '/kit.inc';

T\same_inside([
    'users' => fn() => [posix_getpwnam('root'), posix_getpwuid(0), posix_getpwnam('no such user'), posix_getgrnam('root'), posix_getgrgid(0), posix_getgrnam('no such group')],
    'groups of a user' => fn() => [posix_initgroups('no such user', 12), posix_getgroups(), posix_initgroups('root', 0), posix_getgroups()],
    'what went wrong' => fn() => [posix_access('/nowhere'), posix_getpwnam('no such user'), posix_get_last_error()],
    'syslog' => fn() => [openlog('spindle', LOG_PID, LOG_USER), syslog(LOG_DEBUG, 'a test'), closelog()],
    'pclose of one who takes its time' => fn() => pclose(popen('sleep 0.03; exit 5', 'r')),
    'popen for writing' => function() { $p = popen('cat > /dev/null; exit 2', 'w'); fwrite($p, str_repeat('x', 200_000)); return pclose($p); },
    'system' => function() { ob_start(); $l = system('sleep 0.02; echo system; exit 1', $s); return [$l, $s, ob_get_clean()]; },
    'a host that is not there' => fn() => gethostbyname('host.invalid'),
    'glob and scandir' => fn() => [count(glob(__DIR__ . '/h1-*.phpt')), is_array(scandir('/'))],
    'disk' => fn() => [disk_total_space('/') > 0, touch($f = tempnam(sys_get_temp_dir(), 'h13')), unlink($f)],
]);

putenv('RES_OPTIONS=timeout:1 attempts:1');
// name services may ask another machine: others run meanwhile
foreach ([
    'posix_getpwnam' => fn() => posix_getpwnam('root'),
    'posix_getpwuid' => fn() => posix_getpwuid(0),
    'posix_getgrnam' => fn() => posix_getgrnam('root'),
    'posix_getgrgid' => fn() => posix_getgrgid(0),
    'posix_initgroups' => fn() => posix_initgroups('root', 0),
    'chown' => fn() => @chown(__FILE__, 'no such user'),
    'dns_get_record' => fn() => @dns_get_record('name.invalid', DNS_A),
    'checkdnsrr' => fn() => @checkdnsrr('name.invalid', 'MX'),
    'getmxrr' => fn() => @getmxrr('name.invalid', $hosts),
] as $name => $call) {
    $order = '';
    $two = null;
    $one = spawn(function() use ($call, &$order, &$two) {
        $order .= 'a';
        $two = spawn(function() use (&$order) { $order .= 'b'; });
        $call();
        $order .= 'c';
    });
    await($one);
    await($two);
    echo "$name $order\n";
}

T\work_in();
$gate = new T\Gate;
$ticks = new T\Ticks;
T\parked($closes = spawn(fn() => pclose(popen('exec ' . T\Gate::WAIT, 'r'))));
T\check('pclose ticks', $ticks->more() && $closes->isSuspended());
$gate->open();
await($closes);
$ticks->stop();
?>
--EXPECT--
users: yes
groups of a user: yes
what went wrong: yes
syslog: yes
pclose of one who takes its time: yes
popen for writing: yes
system: yes
a host that is not there: yes
glob and scandir: yes
disk: yes
posix_getpwnam abc
posix_getpwuid abc
posix_getgrnam abc
posix_getgrgid abc
posix_initgroups abc
chown abc
dns_get_record abc
checkdnsrr abc
getmxrr abc
pclose ticks: yes
