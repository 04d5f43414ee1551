<?php
// needs: peer
namespace Matrix;

final class Service
{
    public function reply(string $text): string { pause(); return "reply $text"; }
    public function fails(string $text): string { pause(); throw new \SoapFault('Server', "fault $text"); }
}
final class Client extends \SoapClient
{
    public function __doRequest(string $request, string $location, string $action, int $version, bool $one_way = false): ?string
    {
        pause();
        \preg_match('~<param0[^>]*>(.*?)</param0>~s', $request, $m);
        return '<?xml version="1.0"?><e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema"><e:Body><r:fResponse xmlns:r="urn:x"><return xsi:type="xsd:string">answer to ' . ($m[1] ?? 'nothing') . '</return></r:fResponse></e:Body></e:Envelope>';
    }
}
$request = static fn(string $method, int $n) => '<?xml version="1.0"?><e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><r:' . $method . ' xmlns:r="urn:x"><text>t' . $n . '</text></r:' . $method . '></e:Body></e:Envelope>';
$server = static function () { $server = new \SoapServer(null, ['uri' => 'urn:x']); $server->setClass(Service::class); return $server; };
check('SoapServer::handle', static function ($server, int $n) use ($request) { \ob_start(); $server->handle($request('reply', $n)); return \ob_get_clean(); }, $server, in: 'SoapServer::handle');
check('SoapServer::handle, printing', static fn($server, int $n) => printed(static fn() => $server->handle($request('reply', $n))), $server, in: 'SoapServer::handle');
check('SoapClient::__doRequest', static fn($client, int $n) => $client->f("x$n"), static fn() => new Client(null, ['location' => 'x', 'uri' => 'urn:x']), in: ['SoapClient::__call']);
check('SoapClient::__soapCall', static fn($client, int $n) => $client->__soapCall(text('f'), ["x$n"]), static fn() => new Client(null, ['location' => 'x', 'uri' => 'urn:x']), in: ['SoapClient::__soapCall']);
// The encoder gives up in the middle, and leaves what it had to the next call.
check('answers that are no texts', static fn($client, int $n) => $client->__soapCall('f', [(object) ['text' => "x$n"]]), static fn() => new Client(null, ['location' => 'x', 'uri' => 'urn:x']), in: ['SoapClient::__soapCall']);
check('a type map', static fn($client, int $n) => $client->__soapCall('f', ["x$n"]), static fn() => new Client(null, ['location' => 'x', 'uri' => 'urn:x', 'typemap' => [['type_ns' => 'http://www.w3.org/2001/XMLSchema', 'type_name' => 'string', 'from_xml' => static function ($xml) { pause(); return "from $xml"; }, 'to_xml' => static function ($value) { pause(); return "<x>$value</x>"; }]]]), in: ['SoapClient::__soapCall']);
check('a description', static fn($_, int $n) => \count((new \SoapClient('http://127.0.0.1:' . \getenv('MATRIX_HTTP_PORT') . '/wsdl/50', ['cache_wsdl' => WSDL_CACHE_NONE]))->__getFunctions()) > 0, in: 'SoapClient::__construct');
check('SoapVar', static fn($_, int $n) => (array) new \SoapVar($n, XSD_STRING, text("t$n"), text('urn:x')), in: 'SoapVar::__construct');
check('SoapFault', static fn($_, int $n) => (new \SoapFault(text('Server'), text("fault $n")))->getMessage(), in: 'SoapFault::__construct');
