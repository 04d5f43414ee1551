<?php
// needs: imap peer
namespace Matrix;

$late = slowed(env('SPINDLE_IMAP_PORT'));
$server = "{127.0.0.1:$late/imap/notls}";
$open = static fn(string $box = 'INBOX') => \imap_open("$server$box", 'spindle', env('SPINDLE_IMAP_PASSWORD'), 0, 1) ?: throw new \Exception(\imap_last_error());
$letter = static fn(int $n) => "From: anna@example.org\r\nSubject: letter $n\r\n\r\nDear Bert, $n.\r\n";
$full = static function () use ($open, $letter, $server) { $i = $open(); $box = unique(); \imap_createmailbox($i, "$server$box"); \imap_append($i, "$server$box", $letter(1)); \imap_append($i, "$server$box", $letter(2)); \imap_reopen($i, "$server$box"); return $i; };
check('imap_body', static fn($i, int $n) => \imap_body($i, $n), $full, in: 'imap_body');
check('imap_headerinfo', static fn($i, int $n) => \imap_headerinfo($i, $n)->subject, $full, in: 'imap_headerinfo');
check('imap_search', static fn($i, int $n) => \imap_search($i, "SUBJECT \"letter $n\""), $full, in: 'imap_search');
check('imap_sort', static fn($i, int $n) => \imap_sort($i, SORTSUBJECT, $n === 1), $full, in: 'imap_sort');
check('imap_fetch_overview', static fn($i, int $n) => \imap_fetch_overview($i, "$n")[0]->subject, $full, in: 'imap_fetch_overview');
check('imap_list', static fn($i, int $n) => \in_array($server . 'INBOX', \imap_list($i, $server, 'INBOX')), $full, in: 'imap_list');
check('imap_append', static fn($i, int $n) => \imap_append($i, text($server . 'INBOX'), text($letter($n))), $full, in: 'imap_append');
check('imap_savebody', static fn($i, int $n) => [\imap_savebody($i, \fopen($to = slow(''), 'w'), $n), written($to)], $full, in: 'imap_savebody');
check('imap_savebody beside imap_body', static fn($i, int $n) => $n === 1 ? [\imap_savebody($i, \fopen($to = slow(''), 'w'), $n), written($to)] : \imap_body($i, $n), $full, in: ['imap_savebody', 'imap_body']);
check('imap_open, complaining', static fn($_, int $n) => \count(noisily(fn() => \imap_open("$server", 'spindle', "wrong$n", 0, 1))[1]) > 0, apart: true, in: 'imap_open');
check('imap_utf8', static fn($_, int $n) => \imap_utf8(text("=?UTF-8?Q?x$n?=")), in: 'imap_utf8');
check('imap_rfc822_parse_adrlist', static fn($_, int $n) => \imap_rfc822_parse_adrlist(text("a$n@b, c@d"), text('x'))[0]->mailbox, in: 'imap_rfc822_parse_adrlist');
\register_shutdown_function(static function () { \imap_errors(); \imap_alerts(); });
