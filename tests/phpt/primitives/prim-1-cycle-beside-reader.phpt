--TEST--
PRIM-1: a channel that a coroutine fills from a stream is collected with a cycle of its values
--FILE--
<?php
use Async\Channel;
use function Async\suspend;

final class Node
{
    public ?Channel $channel = null;
    public string $data = '';

    public function __destruct()
    {
        if ($this->channel) echo "released\n";
    }
}

[$near, $far] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
$channel = Channel::fromStream($far, 0, 4);
suspend(); // the coroutine reads now
$node = new Node;
$node->channel = $channel;
$channel->send($node);
unset($channel, $node);
echo gc_collect_cycles() > 0 ? "collected\n" : "not collected\n";

// Other objects get the memory, before the coroutine ends and after that.
$others = [];
for ($i = 0; $i < 20; $i++) {
    $others[] = new Node;
}
suspend();
suspend();
for ($i = 0; $i < 20; $i++) {
    $others[] = new Node;
}
echo count(array_unique(array_map(spl_object_id(...), $others))), " objects\n";
?>
--EXPECT--
released
collected
40 objects
