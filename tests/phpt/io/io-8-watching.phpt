--TEST--
IO-8 who waits in curl_multi_select() keeps nobody from using the handle, and hears of what others do
--EXTENSIONS--
curl
--FILE--
<?php
use function Async\{await, spawn};

require __DIR__ . '/kit.inc';
require __DIR__ . '/http-server.inc';

$goes_on = [];
[$url, $server] = T\http_server(function($path) use (&$goes_on) {
    T\until(function() use ($path, &$goes_on) { return isset($goes_on[$path]); });
    return "answer to $path";
});
$multi = curl_multi_init();
$start = function(string $path) use ($multi, $url) {
    curl_multi_add_handle($multi, T\curl($url . $path));
    curl_multi_exec($multi, $running);
    return $running;
};
/** Performs until nothing is left to do but to wait for answers. */
$perform = function() use ($multi) {
    do curl_multi_exec($multi, $running); while ($running && curl_multi_select($multi, 0.3) > 0);
    return $running;
};
$start('/1');
$perform();
/** Waits for what libcurl is told, as its own timers end a wait as well. */
$select = function() use ($multi) { do $found = curl_multi_select($multi, 600); while ($found === 0); return $found; };
$watches = fn() => spawn(function() use ($multi, $select) { curl_multi_exec($multi, $running); return $select(); });

$both = [$watches(), $watches()];
T\parked(...$both);
curl_multi_exec($multi, $running); // which does nothing
T\turns();
T\check('they go on watching', !$both[0]->isCompleted() && !$both[1]->isCompleted());
echo await(spawn($start, '/2'), Async\timeout(60_000)), "\n";
echo json_encode(T\all($both)), "\n";
$perform();

// What comes for one is taken by another one.
$both = [$watches(), $watches(), $watches()];
T\parked(...$both);
$goes_on['/1'] = true;
$left = await(spawn(function() use ($multi) {
    do curl_multi_exec($multi, $running); while ($running === 2 && curl_multi_select($multi, 600) > 0);
    return $running;
}));
echo $left, ' ', json_encode(T\all($both)), "\n";

// What was done since its own last call counts as well, once.
$done = spawn(function() use ($multi, $select) {
    curl_multi_exec($multi, $running);
    T\turns();
    return [$select(), curl_multi_select($multi, 0.001)];
});
T\begun($done);
$goes_on['/2'] = true;
do curl_multi_exec($multi, $running); while ($running && curl_multi_select($multi, 600) > 0);
$start('/3');
$perform();
echo json_encode(await($done)), "\n";

$cancelled = $watches();
T\parked($cancelled);
$cancelled->cancel();
echo T\failure($cancelled)::class, "\n";
$closed = spawn(fn() => curl_multi_select($multi, 600));
T\parked($closed);
curl_multi_close($multi);
T\check('closed meanwhile', await($closed) >= 0);
$goes_on['/3'] = true;
$server->cancel();
?>
--EXPECT--
they go on watching: yes
2
[1,1]
1 [1,1,1]
[1,0]
Async\CancellationException
closed meanwhile: yes
