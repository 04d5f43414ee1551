<?php
/* The SOAP service of the peer, and its description. */
final class Soap
{
    public function double(int $n): int
    {
        return 2 * $n;
    }

    public function turn(string $text): string
    {
        return strrev($text);
    }

    public function refuse(string $why): string
    {
        throw new SoapFault('Client', $why);
    }

    public static function answer(string $request): string
    {
        $server = new SoapServer(null, ['uri' => 'urn:matrix']);
        $server->setClass(self::class);
        ob_start();
        $server->handle($request);
        return ob_get_clean();
    }

    public static function description(string $location): string
    {
        $messages = $operations = $bindings = '';
        foreach (['double' => ['n', 'int'], 'turn' => ['text', 'string'], 'refuse' => ['why', 'string']] as $name => [$parameter, $type]) {
            $messages .= "<message name='{$name}In'><part name='$parameter' type='xsd:$type'/></message>
                <message name='{$name}Out'><part name='return' type='xsd:$type'/></message>";
            $operations .= "<operation name='$name'><input message='tns:{$name}In'/><output message='tns:{$name}Out'/></operation>";
            $body = "<soap:body use='encoded' namespace='urn:matrix' encodingStyle='http://schemas.xmlsoap.org/soap/encoding/'/>";
            $bindings .= "<operation name='$name'><soap:operation soapAction='urn:matrix#$name'/><input>$body</input><output>$body</output></operation>";
        }
        return "<?xml version='1.0'?>
            <definitions name='Matrix' targetNamespace='urn:matrix' xmlns:tns='urn:matrix' xmlns='http://schemas.xmlsoap.org/wsdl/'
                xmlns:soap='http://schemas.xmlsoap.org/wsdl/soap/' xmlns:xsd='http://www.w3.org/2001/XMLSchema'>
            $messages
            <portType name='MatrixPort'>$operations</portType>
            <binding name='MatrixBinding' type='tns:MatrixPort'>
                <soap:binding style='rpc' transport='http://schemas.xmlsoap.org/soap/http'/>$bindings</binding>
            <service name='Matrix'><port name='MatrixPort' binding='tns:MatrixBinding'><soap:address location='$location'/></port></service>
            </definitions>";
    }
}
