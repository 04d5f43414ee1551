<?php
// needs: peer ext:soap
// SoapClient; its service is in servers/soap.php.
namespace Matrix;

use Async;

function soap(string|null $wsdl, array $options = []): \SoapClient
{
    $options += ['cache_wsdl' => WSDL_CACHE_NONE];
    return new \SoapClient($wsdl, $wsdl === null ? $options + ['uri' => 'urn:matrix', 'location' => http('/soap/' . ms())] : $options);
}

matrix('a call', function (int $i): array {
    $client = soap(null);
    return [$client->double($i), $client->turn("text $i")];
}, ms: 1000);

matrix('a fault', function (int $i): array {
    try {
        return [soap(null)->refuse("no $i")];
    } catch (\SoapFault $fault) {
        return [$fault->faultcode, $fault->getMessage()];
    }
}, n: 10);

matrix('WSDL from a URL', function (int $i): array {
    $client = soap(http('/wsdl/' . ms()));
    return [$client->__getFunctions(), $client->double($i)];
}, n: 10, ms: 1000);

\file_put_contents($wsdl = scratch('wsdl'), \file_get_contents(http('/wsdl/' . ms())));
matrix('WSDL from a file', fn(int $i) => soap($wsdl)->turn("mirror $i"), n: 10);

\ini_set('soap.wsdl_cache_dir', env('MATRIX_TMP'));
matrix('WSDL in the cache', fn(int $i) => soap(http('/wsdl/' . ms(100)), ['cache_wsdl' => WSDL_CACHE_DISK])->double($i), n: 10, ms: 100);

matrix('https', function (int $i): int {
    $context = \stream_context_create(['ssl' => ['cafile' => env('MATRIX_CERT')]]);
    return soap(null, ['uri' => 'urn:matrix', 'location' => https('/soap/' . ms()), 'stream_context' => $context])->double($i);
}, n: 10);

matrix('a server that does not answer in time', function (int $i): string {
    \ini_set('default_socket_timeout', '1');
    try {
        soap(null, ['uri' => 'urn:matrix', 'location' => http('/soap/10000')])->double($i);
        return 'an answer';
    } catch (\SoapFault $fault) {
        return $fault->getMessage();
    } finally {
        \ini_restore('default_socket_timeout');
    }
}, n: 2, ms: 1000);

// what a call needs to decode its answer is kept in variables of the whole process
matrix('types of one\'s own', function (int $i): string {
    $type = ['type_ns' => 'http://www.w3.org/2001/XMLSchema', 'type_name' => 'string'];
    return soap(null, ['uri' => 'urn:matrix', 'location' => http('/soap/' . ms(200 + 50 * ($i % 3))), 'typemap' => [$type + [
        'to_xml' => fn(string $text) => "<text>$text</text>",
        'from_xml' => fn(string $xml) => "decoded by $i: " . \strip_tags($xml),
    ]]])->turn('abc');
}, n: 6, ms: 200);

$trace = soap(null, ['trace' => true, 'location' => http('/soap/' . ms(100)), 'uri' => 'urn:matrix']);
matrix('one client', function (int $i) use ($trace): array {
    return [$trace->double($i), $trace->turn("text $i")];
}, n: 5, ms: 200, evidence: 'ticks');

$client = soap(null);
cancelled('a call, cancelled', fn() => soap(null, ['uri' => 'urn:matrix', 'location' => http('/soap/20000')])->double(1), fn() => $client->double(21));
with_coroutines('the client works after a cancellation', function (Check $check): void {
    $client = cut_off($check, function (): \SoapClient {
        $client = soap(null, ['uri' => 'urn:matrix', 'location' => http('/soap/1000')]);
        $client->double(1);
        return $client;
    }, fn(\SoapClient $client) => $client->double(2));
    $answer = $client->double(3);
    $answer === 6 or $check->problem('it answers ' . \json_encode($answer));
});

// A fiber in the middle of a call, with what that has set, may continue in another coroutine than the one in which it began.
final class Yielding extends \SoapClient
{
    public function __doRequest(string $request, string $location, string $action, int $version, bool $one_way = false): ?string
    {
        \Fiber::suspend();
        return '<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/" xmlns:i="http://www.w3.org/2001/XMLSchema-instance" xmlns:d="http://www.w3.org/2001/XMLSchema">'
            . '<e:Body><r:fResponse xmlns:r="urn:x"><return i:type="d:string">text</return></r:fResponse></e:Body></e:Envelope>';
    }
}
with_coroutines('fibers that continue in another coroutine', function (Check $check): void {
    $type = ['type_ns' => 'http://www.w3.org/2001/XMLSchema', 'type_name' => 'string'];
    $fiber = fn(int $i) => new \Fiber(fn() => (new Yielding(null, ['uri' => 'urn:x', 'location' => 'x', 'typemap' => [$type + [
        'from_xml' => fn(string $xml) => "$i: " . \strip_tags($xml),
    ]]]))->f());
    $fibers = [];
    $first = Async\spawn(function () use ($fiber, &$fibers): string {
        for ($i = 0; $i < 4; $i++) {
            $fibers[$i] = $fiber($i);
            $fibers[$i]->start();
        }
        Async\suspend(); // the fibers end meanwhile
        $own = $fiber(9);
        $own->start();
        Async\suspend();
        $own->resume();
        return $own->getReturn();
    });
    $second = Async\spawn(function () use (&$fibers): array {
        while (\count($fibers) < 4) {
            Async\suspend();
        }
        foreach ([2, 0, 3, 1] as $i) {
            $fibers[$i]->resume();
        }
        $got = \array_map(fn($fiber) => $fiber->getReturn(), $fibers);
        $fibers = [];
        Async\suspend();
        return $got;
    });
    $got = finished($second);
    $got === ['0: text', '1: text', '2: text', '3: text'] or $check->problem('the fibers return ' . \json_encode($got));
    $got = finished($first);
    $got === '9: text' or $check->problem('the one after them returns ' . \json_encode($got));
});

with_coroutines('clones, which have one socket', function (Check $check): void {
    $client = soap(null, ['keep_alive' => true]);
    $client->double(1);
    $turns = [];
    foreach (['one', 'two', 'three'] as $text) {
        $clone = clone $client;
        $turns[$text] = Async\spawn(fn() => $clone->turn($text));
    }
    foreach ($turns as $text => $turn) {
        if (($answer = finished($turn)) !== \strrev($text)) {
            $check->problem("the answer for $text is " . \json_encode($answer));
        }
    }
});
