--TEST--
PROC-6: A message of a topic comes to all that have subscribed, in order, and a gap ends the subscription
--INI--
async.seed=0
--FILE--
<?php
use Async\Http\{MessagesLost, Subscription, Topic};
use function Async\{await, spawn, suspend};

$news = new Topic('news');
echo $news->name(), "\n";
$news->publish('before');

echo "-- in order, to all of the name\n";
$one = $news->subscribe();
$two = (new Topic('news'))->subscribe(capacity: 3);
$other = (new Topic('other'))->subscribe();
foreach (['a', "b\0", ''] as $message) $news->publish($message);
foreach ([$one, $two] as $subscription) var_dump(json_encode([$subscription->receive(), $subscription->receive(), $subscription->receive()]));

echo "-- it waits\n";
$waits = spawn(fn() => $one->receive());
suspend();
$news->publish('late');
var_dump(await($waits), $two->receive());

echo "-- closed\n";
$waits = spawn(fn() => $one->receive());
suspend();
$one->close();
var_dump(await($waits), $one->receive());
$two->close();

echo "-- who is too slow gets what there is room for, and learns of the gap; no one waits\n";
$slow = $news->subscribe(2);
$fast = $news->subscribe(1);
$heard = [];
$hears = spawn(function () use ($fast, &$heard) { foreach ($fast as $message) $heard[] = $message; });
for ($i = 0; $i < 5; $i++) $news->publish("$i");
suspend();
$fast->close();
await($hears);
echo implode(' ', $heard), "\n";
for ($i = 0; $i < 3; $i++) {
    try {
        var_dump($slow->receive());
    } catch (MessagesLost $lost) {
        echo get_class($lost), ": {$lost->getMessage()}\n";
    }
}
try {
    foreach ($slow as $none) echo "not reached\n";
} catch (MessagesLost) {
    echo "again\n";
}

echo "-- nothing is kept for one that is gone\n";
$pages = fn() => (int) explode(' ', file_get_contents('/proc/self/statm'))[1];
$before = $pages();
for ($i = 0; $i < 2000; $i++) {
    $gone = (new Topic("topic $i"))->subscribe();
    (new Topic("topic $i"))->publish(str_repeat('x', 100_000));
}
unset($gone);
var_dump($pages() - $before < 10_000);  // 40 of 200 MB

echo "-- limits\n";
foreach ([
    fn() => new Topic(''),
    fn() => new Topic(str_repeat('x', 256)),
    fn() => $news->publish(str_repeat('x', 262_145)),
    fn() => $news->subscribe(0),
    fn() => $news->subscribe(1_048_577),
    fn() => (new Subscription)->receive(),
    fn() => $news->__construct('again'),
] as $wrong) {
    try {
        $wrong();
        echo "accepted\n";
    } catch (Throwable $thrown) {
        echo get_class($thrown), ": {$thrown->getMessage()}\n";
    }
}
$largest = (new Topic(str_repeat('x', 255)))->subscribe();
(new Topic(str_repeat('x', 255)))->publish(str_repeat('x', 262_144));
var_dump(strlen($largest->receive()));
?>
--EXPECT--
news
-- in order, to all of the name
string(18) "["a","b\u0000",""]"
string(18) "["a","b\u0000",""]"
-- it waits
string(4) "late"
string(4) "late"
-- closed
NULL
NULL
-- who is too slow gets what there is room for, and learns of the gap; no one waits
0 1 2 3 4
string(1) "0"
string(1) "1"
Async\Http\MessagesLost: The subscription has ended: messages have come faster than they were received
again
-- nothing is kept for one that is gone
bool(true)
-- limits
ValueError: Async\Http\Topic::__construct(): Argument #1 ($name) must have from 1 to 255 bytes
ValueError: Async\Http\Topic::__construct(): Argument #1 ($name) must have from 1 to 255 bytes
ValueError: Async\Http\Topic::publish(): Argument #1 ($message) must have at most 262144 bytes
ValueError: Async\Http\Topic::subscribe(): Argument #1 ($capacity) must be between 1 and 1048576
ValueError: Async\Http\Topic::subscribe(): Argument #1 ($capacity) must be between 1 and 1048576
Async\Http\ServerException: This subscription is of no topic: call Topic::subscribe()
Async\Http\ServerException: The topic is constructed already
int(262144)
