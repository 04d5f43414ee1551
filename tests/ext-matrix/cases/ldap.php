<?php
// needs: ldap peer ext:ldap
// LDAP through libldap. What the server says comes late.
namespace Matrix;

use Async;

$late = slowed(env('SPINDLE_LDAP_PORT'), is_async() ? 100 : 1);

function ldap(string|int $port): \LDAP\Connection
{
    $ldap = \ldap_connect("ldap://127.0.0.1:$port");
    \ldap_set_option($ldap, LDAP_OPT_PROTOCOL_VERSION, 3);
    \ldap_set_option($ldap, LDAP_OPT_NETWORK_TIMEOUT, 30);
    \ldap_bind($ldap, env('SPINDLE_LDAP_USER'), env('SPINDLE_LDAP_PASSWORD')) or throw new \RuntimeException(\ldap_error($ldap));
    return $ldap;
}

function person(string $name): array
{
    return ['objectClass' => 'person', 'cn' => $name, 'sn' => "Surname of $name", 'description' => ['one', 'two']];
}

$base = 'ou=' . unique('ldap') . ',' . env('SPINDLE_LDAP_BASE');
\ldap_add(ldap(env('SPINDLE_LDAP_PORT')), $base, ['objectClass' => 'organizationalUnit', 'ou' => \substr($base, 3, \strpos($base, ',') - 3)]);

matrix('bind, add, search, modify, rename, delete', function (int $i) use ($late, $base): array {
    $ldap = ldap($late);
    $dn = "cn=person $i,$base";
    $done = [\ldap_add($ldap, $dn, person("person $i")), \ldap_compare($ldap, $dn, 'sn', "Surname of person $i")];
    $found = \ldap_search($ldap, $base, "(cn=person $i)", ['cn', 'sn', 'description']);
    $done[] = \ldap_count_entries($ldap, $found);
    $entries = \ldap_get_entries($ldap, $found);
    $done[] = [$entries[0]['sn'][0], $entries[0]['description']['count'], $entries[0]['dn'] === $dn];
    $done[] = \ldap_mod_replace($ldap, $dn, ['sn' => "New $i"]);
    $done[] = \ldap_rename($ldap, $dn, "cn=renamed $i", $base, true);
    $read = \ldap_read($ldap, "cn=renamed $i,$base", '(objectClass=*)', ['sn']);
    $done[] = \ldap_get_values($ldap, \ldap_first_entry($ldap, $read), 'sn')[0];
    $done[] = \ldap_delete($ldap, "cn=renamed $i,$base");
    $done[] = @\ldap_read($ldap, "cn=renamed $i,$base", '(objectClass=*)');
    $done[] = [\ldap_errno($ldap), \ldap_error($ldap)];
    \ldap_unbind($ldap);
    return $done;
}, n: 10, ms: 900);

matrix('a wrong password', function (int $i) use ($late): array {
    $ldap = \ldap_connect("ldap://127.0.0.1:$late");
    \ldap_set_option($ldap, LDAP_OPT_PROTOCOL_VERSION, 3);
    return [@\ldap_bind($ldap, env('SPINDLE_LDAP_USER'), 'wrong'), \ldap_error($ldap)];
}, n: 10, ms: 100);

matrix('a list of entries in pages', function (int $i) use ($late, $base): array {
    $ldap = ldap($late);
    for ($n = 0; $n < 4; $n++) {
        \ldap_add($ldap, "cn=page $i.$n,$base", person("page $i.$n"));
    }
    $cookie = '';
    $pages = [];
    do {
        $found = \ldap_list($ldap, $base, "(cn=page $i.*)", ['cn'], 0, -1, -1, LDAP_DEREF_NEVER,
            [['oid' => LDAP_CONTROL_PAGEDRESULTS, 'value' => ['size' => 3, 'cookie' => $cookie]]]);
        \ldap_parse_result($ldap, $found, $code, $dn, $message, $referrals, $controls);
        $cookie = $controls[LDAP_CONTROL_PAGEDRESULTS]['value']['cookie'];
        $pages[] = \array_map(fn($entry) => $entry['cn'][0], \array_slice(\ldap_get_entries($ldap, $found), 1));
    } while ($cookie !== '');
    return $pages;
}, n: 10, ms: 700);

matrix('searches in parallel on several links', function (int $i) use ($late, $base): array {
    $found = \ldap_search([$one = ldap($late), $two = ldap($late)], $base, '(ou=*)', ['ou']);
    return [\ldap_count_entries($one, $found[0]), \ldap_count_entries($two, $found[1])];
}, n: 5, ms: 300);

matrix('a server that does not answer in time', function (): array {
    $ldap = \ldap_connect('ldap://127.0.0.1:' . slowed(env('SPINDLE_LDAP_PORT'), 20_000));
    \ldap_set_option($ldap, LDAP_OPT_PROTOCOL_VERSION, 3);
    \ldap_set_option($ldap, LDAP_OPT_TIMEOUT, 1);
    \ldap_set_option($ldap, LDAP_OPT_NETWORK_TIMEOUT, 1);
    return [@\ldap_bind($ldap, env('SPINDLE_LDAP_USER'), env('SPINDLE_LDAP_PASSWORD')), \ldap_errno($ldap)];
}, n: 2, ms: 1000);

// --- one link in several coroutines ------------------------------------------------------------------------------------

$shared = ldap($late);
matrix('one link', function (int $i) use ($shared, $base): array {
    $dn = "cn=shared $i,$base";
    $done = [\ldap_add($shared, $dn, person("shared $i"))];
    $found = \ldap_search($shared, $base, "(cn=shared $i)", ['sn']);
    $done[] = \ldap_get_entries($shared, $found)[0]['sn'][0];
    $done[] = \ldap_delete($shared, $dn);
    return $done;
}, n: 5, ms: 300, evidence: 'ticks');

// --- cancellation ------------------------------------------------------------------------------------------------------

cancelled('ldap_bind', fn() => ldap(slowed(env('SPINDLE_LDAP_PORT'), 20_000)), function () use ($base): int {
    $ldap = ldap(env('SPINDLE_LDAP_PORT'));
    return \ldap_count_entries($ldap, \ldap_search($ldap, $base, '(ou=*)'));
});

with_coroutines('ldap_search, and the link after it', function (Check $check) use ($base): void {
    $ldap = cut_off($check, function () use (&$open): \LDAP\Connection {
        $ldap = ldap(slowed(env('SPINDLE_LDAP_PORT'), 1000));
        $open = open_descriptors();
        return $ldap;
    }, fn(\LDAP\Connection $ldap) => \ldap_search($ldap, $base, '(ou=*)'));
    // the answer that nobody waits for any more must not be the next one's
    $found = @\ldap_search($ldap, $base, '(cn=nobody)');
    $answer = $found === false ? \ldap_error($ldap) : \ldap_count_entries($ldap, $found);
    $check->facts['the next call got'] = \json_encode($answer);
    $answer === 0 || $found === false or $check->problem('another one\'s answer: ' . \json_encode($answer));
    unset($found);
    $check->warnings = [];
    no_descriptor_left($check, $open);
});
