--TEST--
Exceptions in worker mode answer with 500, and are reported as PHP does; handlers of exceptions and errors are each request's own
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/worker/worker.inc';
use function Async\{spawn, await, delay};

$log = S\log_file();
set_exception_handler(null);
$server = S\worker(function () {
    switch ($_GET['how'] ?? '') {
        case 'throws':
            echo 'partial ';
            throw new DomainException('one');
        case 'handler':
            set_exception_handler(function (Throwable $e) { http_response_code(418); echo 'handled ', $e->getMessage(); });
            usleep(1000);
            throw new Exception('two');
        case 'handler-throws':
            set_exception_handler(fn(Throwable $e) => throw new LogicException('worse'));
            throw new Exception('three');
        case 'child':
            spawn(function () { throw new RangeException('of the child'); });
            delay(60000);
            break;
        case 'error-handler':
            set_error_handler(function ($level, $text) { echo "[$text] "; return true; });
            usleep(1000);
            echo $undefined;
            break;
        case 'no-handler':
            echo @$undefined, 'silent';
            break;
        case 'returns':
            return new Async\Http\Response('no');
        case 'callback-throws': // when the buffers end, at the end of the request
            ob_start(fn() => throw new Exception('five'));
            echo 'text';
            break;
        case 'begun':
            echo 'begun ';
            ob_flush();
            flush();
            throw new Exception('four');
    }
});
foreach (['throws', 'handler', 'no-handler', 'handler-throws', 'child', 'error-handler', 'no-handler', 'returns', 'callback-throws', 'begun', ''] as $how) {
    $answer = S\answer($server, "/?how=$how");
    // What was flushed may have been sent or not: in no case is the response complete.
    echo "$how: ", $how === 'begun' && in_array($answer, ['none ', '200 begun  (incomplete)']) ? 'broken off' : $answer, "\n";
}
$server->stop();
echo S\reports($log);
?>
--EXPECTF--
throws: 500 partial
handler: 418 handled two
no-handler: 200 silent
handler-throws: 500 
child: 500 
error-handler: 200 [Undefined variable $undefined]
no-handler: 200 silent
returns: 500 
callback-throws: 500 text
begun: broken off
: 200 
Fatal error:  Uncaught DomainException: one in %s:%d
Stack trace:
#0 [internal function]: {closure}()
#1 %s(%d): Async\Http\Server::run()
#2 {main}
  thrown
Fatal error:  Uncaught LogicException: worse in %s:%d
Stack trace:
#0 [internal function]: {closure}(Object(Exception))
#1 %s(%d): Async\Http\Server::run()
#2 {main}
  thrown
Fatal error:  Uncaught RangeException: of the child in %s:%d
Stack trace:
#0 [internal function]: {closure}()
#1 {main}
  thrown
Fatal error:  Uncaught Error: A handler in worker mode prints its response: it must not return one in %s:%d
Stack trace:
#0 %s(%d): Async\Http\Server::run()
#1 {main}
  thrown
Fatal error:  Uncaught Exception: five in %s:%d
Stack trace:
#0 [internal function]: {closure}('text', %d)
#1 [internal function]: Async\Http\Server::run()
#2 %s(%d): Async\Http\Server::run()
#3 {main}
  thrown
Fatal error:  Uncaught Exception: four in %s:%d
Stack trace:
#0 [internal function]: {closure}()
#1 %s(%d): Async\Http\Server::run()
#2 {main}
  thrown
