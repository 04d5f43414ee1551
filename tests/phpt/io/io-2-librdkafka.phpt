--TEST--
IO-2 a consumer of librdkafka, which works on threads of its own, waits beside the coroutine that produces its messages
--EXTENSIONS--
ffi
--SKIPIF--
<?php
try { FFI::cdef('', 'librdkafka.so.1'); } catch (FFI\Exception) { die('skip no librdkafka'); }
?>
--FILE--
<?php
use function Async\{await, spawn};

// What ext-rdkafka calls. The broker is one that the library has for tests.
$kafka = FFI::cdef(<<<'C'
    typedef struct { int err; void *topic; int32_t partition; void *payload; size_t len; } message;
    void *rd_kafka_conf_new(void);
    int rd_kafka_conf_set(void *conf, const char *name, const char *value, char *error, size_t size);
    void *rd_kafka_new(int type, void *conf, char *error, size_t size);
    void rd_kafka_destroy(void *client);
    void *rd_kafka_mock_cluster_new(void *client, int brokers);
    const char *rd_kafka_mock_cluster_bootstraps(void *cluster);
    void rd_kafka_mock_cluster_destroy(void *cluster);
    void *rd_kafka_topic_new(void *client, const char *name, void *conf);
    void rd_kafka_topic_destroy(void *topic);
    int rd_kafka_produce(void *topic, int32_t partition, int flags, const char *payload, size_t len, void *key, size_t key_len, void *opaque);
    int rd_kafka_flush(void *client, int ms);
    int rd_kafka_poll_set_consumer(void *client);
    void *rd_kafka_topic_partition_list_new(int size);
    void *rd_kafka_topic_partition_list_add(void *list, const char *topic, int32_t partition);
    void rd_kafka_topic_partition_list_destroy(void *list);
    int rd_kafka_subscribe(void *client, void *list);
    message *rd_kafka_consumer_poll(void *client, int ms);
    void rd_kafka_message_destroy(message *one);
    int rd_kafka_consumer_close(void *client);
    C, 'librdkafka.so.1');
const PRODUCER = 0, CONSUMER = 1, COPY = 2;

function client(int $type, array $settings): FFI\CData
{
    global $kafka;
    $conf = $kafka->rd_kafka_conf_new();
    $error = $kafka->new('char[512]');
    foreach ($settings + ['log_level' => '0'] as $name => $value) {
        $kafka->rd_kafka_conf_set($conf, $name, $value, $error, 512) === 0 || die(FFI::string($error));
    }
    return $kafka->rd_kafka_new($type, $conf, $error, 512) ?? die(FFI::string($error));
}

$host = client(PRODUCER, []);
$cluster = $kafka->rd_kafka_mock_cluster_new($host, 1);
$broker = ['bootstrap.servers' => $kafka->rd_kafka_mock_cluster_bootstraps($cluster)];
$consumer = spawn(function () use ($kafka, $broker): array {
    $client = client(CONSUMER, $broker + ['group.id' => 'group', 'auto.offset.reset' => 'earliest', 'topic.metadata.refresh.fast.interval.ms' => '50']);
    $kafka->rd_kafka_poll_set_consumer($client);
    $list = $kafka->rd_kafka_topic_partition_list_new(1);
    $kafka->rd_kafka_topic_partition_list_add($list, 'topic', -1);
    $kafka->rd_kafka_subscribe($client, $list);
    $kafka->rd_kafka_topic_partition_list_destroy($list);
    for ($all = []; count($all) < 50;) {
        $message = $kafka->rd_kafka_consumer_poll($client, 60_000);
        if ($message !== null) {
            $message->err === 0 and $all[] = FFI::string(FFI::cast('char *', $message->payload), $message->len);
            $kafka->rd_kafka_message_destroy($message);
        }
    }
    $kafka->rd_kafka_consumer_close($client);
    $kafka->rd_kafka_destroy($client);
    return $all;
});
while (($consumer->getAwaitingInfo()['call'] ?? '') === '') { // it does not block the process
    Async\delay(1);
}
echo "the consumer waits\n";
$client = client(PRODUCER, $broker);
$topic = $kafka->rd_kafka_topic_new($client, 'topic', null);
for ($i = 0; $i < 50; $i++) {
    $kafka->rd_kafka_produce($topic, -1, COPY, "message $i", strlen("message $i"), null, 0, null);
}
echo $kafka->rd_kafka_flush($client, 60_000), " left\n";
echo count(array_unique(await($consumer))), " messages\n";
$kafka->rd_kafka_topic_destroy($topic);
$kafka->rd_kafka_destroy($client);
$kafka->rd_kafka_mock_cluster_destroy($cluster);
$kafka->rd_kafka_destroy($host);
?>
--EXPECT--
the consumer waits
0 left
50 messages
