--TEST--
Async\Http: what is no response, and headers that would break the protocol, are errors of the handler
--FILE--
<?php
require __DIR__ . '/server.inc';

use Async\Http\{Request, Response, Writer};

foreach (["a\r\nb", "a\nb", "a\rb", "a\0b", "a\x7fb"] as $value) {
    echo bin2hex($value), ': ', S\refused(fn() => (new Response)->header('X', $value)), "\n";
}
foreach (['', 'a b', "a\r\nb", 'a:b', "\xff"] as $name) {
    echo json_encode($name, JSON_INVALID_UTF8_SUBSTITUTE), ': ', S\refused(fn() => new Response('', 200, [$name => 'x'])), "\n";
}
echo S\refused(fn() => new Response('', 200, ['x'])), "\n";
echo S\refused(fn() => new Response('', 200, ['x' => 1.5])), "\n";
echo S\refused(fn() => new Response('', 100)), "\n";
echo S\refused(fn() => new Response('', 600)), "\n";
echo S\refused(fn() => Response::redirect("/a\r\nX: y")), "\n";
echo S\refused(fn() => Response::redirect('/', 200)), "\n";
echo S\refused(fn() => (new Response)->cookie('a;b')), "\n";
echo S\refused(fn() => (new Response)->cookie('a', '', ['path' => '/; Domain=x'])), "\n";
echo S\refused(fn() => (new Response)->cookie('a', '', ['nonsense' => 1])), "\n";
echo S\refused(fn() => (new Response)->trailer('Content-Length', '5')), "\n";
echo S\refused(fn() => Response::json(NAN)), "\n";

$log = S\log_file();
set_error_handler(fn() => throw new Exception('handlers of user code are not called for reports'));
$server = S\serve(fn(Request $r) => match ($r->path()) {
    '/int' => 5,
    '/object' => new stdClass,
    '/closed' => (function() { $file = tmpfile(); fclose($file); return $file; })(),
    '/element' => [new stdClass],
    '/late' => (function() { yield 'a'; throw new LogicException('late'); })(),
    '/long' => new Response(function(Writer $w) { $w->write('1234'); }, 200, ['Content-Length' => '3']),
    '/short' => new Response(function(Writer $w) { $w->write('1234'); }, 200, ['Content-Length' => '5']),
});
foreach (['int', 'object', 'closed', 'element', 'late', 'long', 'short'] as $what) {
    $answer = S\send($server, S\request('GET', "/$what"));
    echo "$what: ", S\status($answer), ' ', json_encode(S\body($answer)), ' ', S\reports($log), "\n";
}
$server->stop();
?>
--EXPECT--
610d0a62: ValueError: The value of the header x must not contain line breaks, zeros or control characters
610a62: ValueError: The value of the header x must not contain line breaks, zeros or control characters
610d62: ValueError: The value of the header x must not contain line breaks, zeros or control characters
610062: ValueError: The value of the header x must not contain line breaks, zeros or control characters
617f62: ValueError: The value of the header x must not contain line breaks, zeros or control characters
"": ValueError: "" is not the name of a header
"a b": ValueError: "a b" is not the name of a header
"a\r\nb": ValueError: "a\r\nb" is not the name of a header
"a:b": ValueError: "a:b" is not the name of a header
"\ufffd": ValueError: "\u{fffd}" is not the name of a header
ValueError: Headers must have their names as keys
Error: The value of a header must be a string or an int, float given
ValueError: The status of a response must be from 200 to 599: informational ones cannot be sent
ValueError: The status of a response must be from 200 to 599
ValueError: The value of the header location must not contain line breaks, zeros or control characters
ValueError: The status of a redirection must be from 300 to 399
ValueError: The name of a cookie must not be empty, and must not contain spaces or separators
ValueError: The option "Path" of a cookie must not contain ";" or control characters
ValueError: There is no option "nonsense" of a cookie, or it has another type
ValueError: The header content-length cannot follow a body
JsonException: Inf and NaN cannot be JSON encoded
int: 500 "500 Internal Server Error\n" Warning:  Uncaught Error: A handler must return a Response, a string, null, an iterable of strings, a Closure or a stream, int returned
object: 500 "500 Internal Server Error\n" Warning:  Uncaught Error: A handler must return a Response, a string, null, an iterable of strings, a Closure or a stream, stdClass returned
closed: 500 "500 Internal Server Error\n" Warning:  Uncaught Error: A handler must return a Response, a string, null, an iterable of strings, a Closure or a stream, resource returned
element: 500 "500 Internal Server Error\n" Warning:  Uncaught TypeError: Async\Http\Writer::write(): Argument #1 ($data) must be of type string, stdClass given
late: 500 "500 Internal Server Error\n" Warning:  Uncaught LogicException: late
long: 500 "500 Internal Server Error\n" Warning:  Uncaught Async\Http\ServerException: The response is complete, or longer than its Content-Length
short: 500 "500 Internal Server Error\n" Warning:  Uncaught Async\Http\ServerException: The response is shorter than its Content-Length
