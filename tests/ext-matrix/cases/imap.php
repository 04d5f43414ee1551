<?php
// needs: imap peer ext:imap
// IMAP through the c-client library. What the server says comes late.
namespace Matrix;

use Async;

$late = slowed(env('SPINDLE_IMAP_PORT'), is_async() ? 50 : 1);

function imap(string|int $port, string $box = 'INBOX', int $options = 0, string $user = 'spindle'): \IMAP\Connection
{
    return \imap_open("{127.0.0.1:$port/imap/notls}$box", $user, env('SPINDLE_IMAP_PASSWORD'), $options, 1)
        ?: throw new \RuntimeException(\implode(', ', \imap_errors() ?: ['no connection']));
}

/** Dovecot now and then refuses a new box as an existing one, when others are being created; also without Spindle. */
function created(\IMAP\Connection $imap, string $box): bool
{
    for ($try = 0; $try < 5; $try++) {
        if (@\imap_createmailbox($imap, $box) || @\imap_status($imap, $box, SA_MESSAGES)) {
            return true;
        }
    }
    return false;
}

function letter(string $subject): string
{
    return "From: anna@example.org\r\nTo: bert@example.org\r\nSubject: $subject\r\n\r\nDear Bert,\r\n$subject.\r\n";
}

$prefix = unique('imap');

matrix('create, append, search, fetch, delete', function (int $i) use ($late, $prefix): array {
    $server = "{127.0.0.1:$late/imap/notls}";
    $imap = imap($late);
    $box = "$prefix.$i";
    $done = [created($imap, "$server$box")];
    foreach (['first', 'second', 'third'] as $word) {
        $done[] = \imap_append($imap, "$server$box", letter("$word of $i"));
    }
    $done[] = \imap_reopen($imap, "$server$box");
    $done[] = \imap_num_msg($imap);
    $done[] = \imap_search($imap, 'SUBJECT second');
    $done[] = \imap_headerinfo($imap, 2)->subject;
    $done[] = \trim(\imap_body($imap, 3));
    $done[] = \imap_fetchstructure($imap, 1)->subtype;
    $done[] = \array_map(fn($entry) => $entry->subject, \imap_fetch_overview($imap, '1:3'));
    $done[] = \imap_setflag_full($imap, '1', '\\Flagged');
    \imap_delete($imap, '2');
    $done[] = \imap_expunge($imap);
    $done[] = \imap_status($imap, "$server$box", SA_MESSAGES)->messages;
    $done[] = \array_map(fn($name) => \strstr($name, '.'), \str_replace($server, '', \imap_list($imap, $server, "$box*")));
    $done[] = \imap_reopen($imap, "{$server}INBOX");
    $done[] = \imap_deletemailbox($imap, "$server$box");
    $done[] = \imap_close($imap);
    return $done;
}, n: 6, ms: 1000);

// c-client hands each name to the extension, which collects them in one list of the process
matrix('lists of several at once', function (int $i) use ($late, $prefix): array {
    $server = "{127.0.0.1:$late/imap/notls}";
    $imap = imap($late, '', OP_HALFOPEN);
    for ($n = 0; $n <= $i; $n++) {
        created($imap, "$server$prefix.list$i.$n");
    }
    $lists = [];
    for ($n = 0; $n < 5; $n++) {
        $list = \imap_list($imap, $server, "$prefix.list$i.*") ?: [];
        \sort($list);
        $lists[] = \array_map(fn($name) => \strstr($name, ".list$i"), $list);
    }
    return $lists;
}, n: 5, ms: 800);

// so does it hand the name and the password to c-client
matrix('two users', function (int $i) use ($late): array {
    $imap = imap($late, '', OP_HALFOPEN, $user = $i % 2 ? 'spindle' : 'visitor');
    $server = "{127.0.0.1:$late/imap/notls}";
    created($imap, "{$server}of-$user");
    $boxes = \str_replace($server, '', \imap_list($imap, $server, 'of-*'));
    \imap_close($imap);
    return [$user, $boxes];
}, n: 6, ms: 300);
\imap_errors();

matrix('searches of several at once', function (int $i) use ($late, $prefix): array {
    $server = "{127.0.0.1:$late/imap/notls}";
    $imap = imap($late);
    created($imap, "$server$prefix.search$i");
    for ($n = 0; $n <= $i; $n++) {
        \imap_append($imap, "$server$prefix.search$i", letter("letter $n"));
    }
    \imap_reopen($imap, "$server$prefix.search$i");
    $found = [];
    for ($n = 0; $n < 5; $n++) {
        $found[] = [\imap_search($imap, 'SUBJECT letter'), \imap_status($imap, "$server$prefix.search$i", SA_ALL)->messages, \imap_sort($imap, SORTSUBJECT, true)];
    }
    return $found;
}, n: 5, ms: 1500);

matrix('a wrong password', function (int $i) use ($late): array {
    $imap = @\imap_open("{127.0.0.1:$late/imap/notls}INBOX", 'spindle', "wrong $i", 0, 1);
    return [$imap];
}, n: 3, ms: 600);
\imap_errors();

matrix('a server that does not answer in time', function (): array {
    \imap_timeout(IMAP_OPENTIMEOUT, 1);
    \imap_timeout(IMAP_READTIMEOUT, 1);
    return [@\imap_open('{127.0.0.1:' . slowed(env('SPINDLE_IMAP_PORT'), 20_000) . '/imap/notls}INBOX', 'spindle', 'x', 0, 1)];
}, n: 2, ms: 1000);
\imap_timeout(IMAP_READTIMEOUT, 30);
\imap_errors();

// --- one connection in several coroutines ------------------------------------------------------------------------------

\imap_createmailbox($fresh = imap(env('SPINDLE_IMAP_PORT')), '{127.0.0.1:' . env('SPINDLE_IMAP_PORT') . "/imap/notls}$prefix.shared");
for ($n = 0; $n < 5; $n++) {
    \imap_append($fresh, '{127.0.0.1:' . env('SPINDLE_IMAP_PORT') . "/imap/notls}$prefix.shared", letter("letter $n"));
}
$shared = imap($late, "$prefix.shared");
matrix('one connection', function (int $i) use ($shared): array {
    return [\imap_fetchheader($shared, $i + 1), \imap_body($shared, $i + 1), \imap_search($shared, "SUBJECT \"letter $i\"")];
}, n: 5, ms: 150, evidence: 'ticks');

// --- cancellation ------------------------------------------------------------------------------------------------------

cancelled('imap_open', fn() => imap(slowed(env('SPINDLE_IMAP_PORT'), 20_000)), function () use ($prefix): int {
    return \imap_num_msg(imap(env('SPINDLE_IMAP_PORT'), "$prefix.shared"));
});

with_coroutines('imap_body, and the connection after it', function (Check $check) use ($prefix): void {
    $imap = cut_off($check, fn() => imap(slowed(env('SPINDLE_IMAP_PORT'), 1000), "$prefix.shared"), fn($imap) => \imap_body($imap, 1));
    $answer = @\imap_search($imap, 'SUBJECT "letter 3"');
    $check->facts['the next call got'] = \json_encode($answer);
    \in_array($answer, [[4], false], true) or $check->problem('another one\'s answer: ' . \json_encode($answer));
    $check->warnings = [];
});
\imap_errors();
\imap_alerts();
