--TEST--
H15 OpenSSL's errors stay with the coroutine that is parked
--EXTENSIONS--
ffi
openssl
--INI--
ffi.enable=1
--SKIPIF--
<?php
try {
    FFI::cdef('void ERR_set_error(int, int, const char *, ...);')->ERR_set_error;
} catch (FFI\Exception) {
    die('skip OpenSSL 3 is not linked into PHP');
}
?>
--FILE--
<?php
use function Async\{await, spawn};

$ssl = FFI::cdef('
    void ERR_new(void); void ERR_set_debug(const char *, int, const char *); void ERR_set_error(int, int, const char *, ...);
    unsigned long ERR_peek_error(void); unsigned long ERR_get_error(void); void ERR_clear_error(void);
');
$raise = function(int $reason) use ($ssl) { $ssl->ERR_new(); $ssl->ERR_set_error(20, $reason, 'some data'); };
$reasons = function() use ($ssl) { $all = []; while ($e = $ssl->ERR_get_error()) $all[] = [$e >> 23 & 0xff, $e & 0x7fffff]; return json_encode($all); };

$one = spawn(function() use ($raise, $reasons) {
    $raise(101);
    $raise(102);
    usleep(30_000);
    return $reasons();
});
$two = spawn(function() use ($ssl, $raise, $reasons) {
    $seen = $ssl->ERR_peek_error();
    $ssl->ERR_clear_error();
    $raise(201);
    usleep(60_000);
    return [$seen, $reasons()];
});
$three = spawn(fn() => $ssl->ERR_peek_error());
echo await($one), ' ', json_encode(await($two)), ' ', await($three), "\n";

// After many switches with an empty queue, too.
$ssl->ERR_clear_error();
$rounds = function(int $reason) use ($raise, $reasons) {
    for ($i = 0; $i < 20; $i++) usleep(100);
    $raise($reason);
    for ($i = 0; $i < 3; $i++) usleep(100);
    $own = $reasons();
    for ($i = 0; $i < 3; $i++) usleep(100);
    return [$own, $reasons()];
};
$both = [spawn($rounds, 301), spawn($rounds, 302)];
echo json_encode(array_map(fn($co) => await($co), $both)), "\n";
?>
--EXPECT--
[[20,101],[20,102]] [0,"[[20,201]]"] 0
[["[[20,301]]","[]"],["[[20,302]]","[]"]]
