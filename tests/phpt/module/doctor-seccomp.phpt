--TEST--
spindle doctor behind a filter of system calls, as containers have: what it forbids is named, and coroutines work without
--EXTENSIONS--
ffi
--SKIPIF--
<?php
require __DIR__ . '/doctor.inc';
if (!is_file(Doctor\command())) die('skip there is no command beside the module');
$get_seccomp = 21;
$libc = FFI::cdef('int prctl(int option, ...);', 'libc.so.6');
if ($libc->prctl($get_seccomp) < 0) die('skip an emulator keeps filters of system calls to itself');
?>
--FILE--
<?php
require __DIR__ . '/kit.inc';
require __DIR__ . '/doctor.inc';

// pidfd_open() fails with EPERM, epoll_pwait2() with ENOSYS, in this process and those that it starts
$libc = FFI::cdef('
    struct sock_filter { uint16_t code; uint8_t jt; uint8_t jf; uint32_t k; };
    struct sock_fprog { unsigned short len; struct sock_filter *filter; };
    int prctl(int option, ...);', 'libc.so.6');
$filter = [[0x20, 0, 0, 0], [0x15, 2, 0, 434], [0x15, 2, 0, 441], [0x06, 0, 0, 0x7fff0000], [0x06, 0, 0, 0x50001], [0x06, 0, 0, 0x50026]];
$instructions = $libc->new('struct sock_filter[' . count($filter) . ']');
foreach ($filter as $i => $fields) {
    foreach (['code', 'jt', 'jf', 'k'] as $place => $name) $instructions[$i]->$name = $fields[$place];
}
$program = $libc->new('struct sock_fprog');
$program->len = count($filter);
$program->filter = FFI::addr($instructions[0]);
[$no_new_privileges, $set_seccomp, $mode_filter] = [38, 22, 2];
if ($libc->prctl($no_new_privileges, 1, 0, 0, 0) !== 0 || $libc->prctl($set_seccomp, $mode_filter, FFI::addr($program)) !== 0) die('no filter');

$ended = Doctor\json();
$features = array_column($ended['kernel']['features'], null, 'name');
T\check('a filter', $ended['kernel']['seccomp'], $ended['kernel']);
foreach (['pidfd_open', 'epoll_pwait2'] as $name) T\check($name, !$features[$name]['works'] && $features[$name]['forbidden'], $features[$name]);
T\check('the others', array_sum(array_column($features, 'forbidden')) === 2, $features);
T\check('a note', str_contains(implode("\n", $ended['notes']), '(seccomp) of this container forbids epoll_pwait2, pidfd_open,'), $ended['notes']);
T\check('it works', $ended['works'] && $ended['status'] === 0, $ended);
$ended = T\php('[$a, $b] = [spawn fn () => trim(shell_exec("echo a")), spawn fn () => Async\delay(1)]; echo Async\await($a), Async\await($b), "\n";');
T\check('coroutines and children', $ended->output === "a\n" && $ended->status === 0, $ended);
?>
--EXPECT--
a filter: yes
pidfd_open: yes
epoll_pwait2: yes
the others: yes
a note: yes
it works: yes
coroutines and children: yes
