--TEST--
IO-12 nothing else runs while functions of cURL that never wait do their work, however much that is
--EXTENSIONS--
curl
--FILE--
<?php
use function Async\{spawn, suspend};

require __DIR__ . '/kit.inc';
require __DIR__ . '/http-server.inc';

[$url, $server] = T\http_server(fn($path) => str_repeat($path, 100));
$inside = $stop = false;
$seen = $turns = 0;
$other = spawn(function() use (&$inside, &$seen, &$turns, &$stop) {
    for (; !$stop; suspend()) {
        $turns++;
        $seen += (int) $inside;
    }
});
$alone = function(callable $call) use (&$inside) {
    $inside = true;
    $result = $call();
    $inside = false;
    return $result;
};
$multi = curl_multi_init();
// A name that libcurl looks up by a thread, which it joins. What becomes of the requests does not matter.
preg_match('~^127\.\S+\s+(?:localhost\s+)*([^\s#]+)~m', preg_replace('~^\S+\s+localhost\s*$~m', '', file_get_contents('/etc/hosts')), $known);
$named = str_replace('127.0.0.1', $known[1] ?? 'localhost', $url);
foreach ([$url, $named] as $base) {
    $all = [];
    for ($i = 0; $i < 60; $i++) {
        $all[$i] = T\curl("$base/$i");
        $alone(fn() => curl_multi_add_handle($multi, $all[$i]));
    }
    do {
        $alone(function() use ($multi, &$running) { curl_multi_exec($multi, $running); });
        $alone(fn() => curl_multi_select($multi, 0));
        while ($alone(fn() => curl_multi_info_read($multi)));
        if ($running) curl_multi_select($multi, 600);
    } while ($running);
    $bodies = array_map('curl_multi_getcontent', $all);
    T\check('answers', $base !== $url || $bodies === array_map(fn($i) => str_repeat("/$i", 100), array_keys($all)));
    foreach ($all as $one) {
        $alone(fn() => curl_multi_remove_handle($multi, $one));
    }
}
$alone(fn() => curl_multi_close($multi));
$stop = true;
T\all([$other]);
T\check('others ran', $turns > 10, $turns);
echo "in the middle: $seen\n";
$server->cancel();
?>
--EXPECT--
answers: yes
answers: yes
others ran: yes
in the middle: 0
