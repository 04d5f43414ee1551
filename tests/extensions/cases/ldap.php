<?php
// needs: ldap peer
namespace Matrix;

$late = slowed(env('SPINDLE_LDAP_PORT'));
$connect = static function () use ($late) { $l = \ldap_connect("ldap://127.0.0.1:$late"); \ldap_set_option($l, LDAP_OPT_PROTOCOL_VERSION, 3); \ldap_bind($l, env('SPINDLE_LDAP_USER'), env('SPINDLE_LDAP_PASSWORD')); return $l; };
$base = env('SPINDLE_LDAP_BASE');
check('ldap_read', static fn($l, int $n) => \ldap_get_entries($l, \ldap_read($l, $base, '(objectClass=*)', [1 => ['dc'], 2 => ['o']][$n]))[0]['count'], $connect, in: 'ldap_read');
check('ldap_search', static fn($l, int $n) => \ldap_count_entries($l, \ldap_search($l, $base, "(cn=none$n)")), $connect, in: 'ldap_search');
check('ldap_add', static fn($l, int $n) => [\ldap_add($l, $dn = 'ou=' . unique() . ",$base", ['objectClass' => 'organizationalUnit', 'ou' => $ou = \substr($dn, 3, \strpos($dn, ',') - 3)]), \ldap_delete($l, $dn)], $connect, in: ['ldap_add', 'ldap_delete']);
check('ldap_read, complaining', static fn($l, int $n) => noisily(fn() => \ldap_read($l, "cn=none$n,$base", '(objectClass=*)')), $connect, in: 'ldap_read');
check('ldap_compare', static fn($l, int $n) => noisily(fn() => \ldap_compare($l, text($base), text('dc'), text("x$n"))), $connect, in: 'ldap_compare');
check('ldap_bind', static fn($l, int $n) => noisily(fn() => \ldap_bind($l, "cn=none$n", 'wrong')), $connect, in: 'ldap_bind');
check('ldap_search, of many', static fn($ls, int $n) => \array_map(\get_class(...), \ldap_search($ls, $base, "(cn=none$n)")), static fn() => [$connect(), $connect()], in: 'ldap_search', apart: true);
check('ldap_set_rebind_proc', static fn($l, int $n) => \ldap_set_rebind_proc($l, [on_demand('static function f() { return 0; }'), 'f']), $connect, in: 'ldap_set_rebind_proc');
