<?php
// ini: sendmail_path=$MATRIX_TMP/sendmail -t
// mail(), by a program that takes its time.
namespace Matrix;

// keeps what it gets in a file that is named by the mail's own header, and ends as that header says
\file_put_contents($program = env('MATRIX_TMP') . '/sendmail', "#!/bin/sh\n" . 'mail=$(cat)
sleep ' . seconds(300) . '
printf "%s\n%s\n" "$*" "$mail" > "$(echo "$mail" | tr -d "\r" | sed -n "s/^X-Keep: //p")"
exit "$(echo "$mail" | tr -d "\r" | sed -n "s/^X-Exit: //p")"
');
\chmod($program, 0755);

matrix('a slow sendmail', function (int $i): array {
    $sent = \mail("to$i@example.org", "Subject $i", "Line one of $i\nLine two\n", ['X-Keep' => $kept = scratch('mail'), 'X-Exit' => '0'], "-fsender$i@example.org");
    return [$sent, \str_replace($kept, '', \file_get_contents($kept))];
}, n: 10, ms: 300);

matrix('a sendmail that fails', function (int $i): array {
    $sent = \mail('to@example.org', 'Subject', 'Text', ['X-Keep' => $kept = scratch('mail'), 'X-Exit' => '1']);
    return [$sent, \is_file($kept)];
}, n: 5, ms: 300);

matrix('a long mail', function (int $i): array {
    // more than a pipe holds
    $sent = \mail('to@example.org', 'Subject', $text = \str_repeat("A line of $i\n", 20_000), ['X-Keep' => $kept = scratch('mail'), 'X-Exit' => '0']);
    return [$sent, \substr_count(\file_get_contents($kept), "A line of $i\n")];
}, n: 5, ms: 300);
