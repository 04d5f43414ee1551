<?php
/** What a request sees, and what its code can do to the response. */

namespace Parity;

/** Returns what is the same in each run of a value. */
function lasting(mixed $value): mixed
{
    if (\is_array($value)) {
        return \array_map(lasting(...), $value);
    }
    return \is_string($value) ? \preg_replace('~^/.*/php\w{6}$~', '(temporary)', $value) : $value;
}

function seen(): array
{
    $server = $_SERVER;
    // What the process has in its environment, and what is never the same.
    $of = \preg_grep('/^(HTTP_|CONTENT_|REQUEST_(?!TIME)|SCRIPT_|SERVER_|DOCUMENT_|PATH_|PHP_|QUERY_|REMOTE_|AUTH_|ORIG_|REDIRECT_|GATEWAY_|HTTPS$|FCGI_|argv|argc)/', \array_keys($server));
    $server = \array_intersect_key($server, \array_flip($of));
    unset($server['REMOTE_PORT'], $server['SERVER_PORT'], $server['PHP_FCGI_CHILDREN']);
    $input = \file_get_contents('php://input');
    \parse_str($_SERVER['QUERY_STRING'], $query);
    return [
        'server' => $server,
        'times' => [\is_int($_SERVER['REQUEST_TIME']), \is_float($_SERVER['REQUEST_TIME_FLOAT'])],
        'get' => $_GET, 'post' => $_POST, 'cookie' => $_COOKIE, 'files' => lasting($_FILES), 'request' => $_REQUEST, 'query' => $query,
        'input' => \strlen($input) . ' ' . \md5($input),
        'environment' => [\getenv('REQUEST_METHOD'), \getenv('QUERY_STRING'), \getenv('HTTP_X_N'), \getenv('HTTP_PROXY'), \getenv('CONTENT_TYPE') ?: ''],
        'filter' => [
            \filter_input(\INPUT_GET, 'a'), \filter_input(\INPUT_POST, 'a', \FILTER_VALIDATE_INT), \filter_input(\INPUT_COOKIE, 'a'),
            \filter_input(\INPUT_SERVER, 'REQUEST_METHOD'), \filter_has_var(\INPUT_GET, 'b'), \filter_input_array(\INPUT_POST, ['b' => ['flags' => \FILTER_REQUIRE_ARRAY]]),
        ],
        'headers' => \function_exists('getallheaders') ? \getallheaders() : null,
        'apache' => \function_exists('apache_request_headers') ? \apache_request_headers() == \getallheaders() : null,
        'functions' => \array_map('function_exists', ['fastcgi_finish_request', 'getallheaders', 'apache_request_headers', 'apache_response_headers', 'headers_send', 'fpm_get_status']),
        'sapi' => \PHP_SAPI, 'console' => \defined('STDIN'),
        'settings' => \array_map('ini_get', ['max_execution_time', 'html_errors', 'implicit_flush', 'post_max_size', 'display_errors']),
        'state' => [\ob_get_level(), \headers_sent(), \http_response_code(), \headers_list(), \connection_status(), \error_get_last()['message'] ?? null, \session_status()],
        'uploaded' => \array_map(fn($file) => \is_string($file['tmp_name'] ?? null) && \is_uploaded_file($file['tmp_name']), $_FILES),
        'folder' => \getcwd(),
    ];
}

function act(string $what): void
{
    switch ($what) {
        case 'status': \http_response_code(404); break;
        case 'line': \header('HTTP/1.1 299 Whatever'); break;
        case 'line-known': \header('HTTP/1.0 404 Gone fishing'); break;
        case 'line-then-code': \header('HTTP/1.1 299 Whatever'); \http_response_code(201); break;
        case 'cgi': \header('Status: 418 Short and stout'); break;
        case 'cgi-number': \header('Status: 410'); break;
        case 'location': \header('Location: /there'); break;
        case 'location-201': \header('Location: /there', true, 201); break;
        case 'cookies': \setcookie('a', 'b c', ['path' => '/', 'httponly' => true, 'samesite' => 'Lax']); \setrawcookie('d', 'e'); \setcookie('gone'); break;
        case 'replaced': \header('X-A: 1'); \header('X-A: 2'); \header('X-B: 1'); \header('X-B: 2', false); \header_remove('X-Powered-By'); break;
        case 'type': \header('Content-Type: text/csv'); echo "a,b\n"; break;
        case 'no-type': \ini_set('default_mimetype', ''); echo 'untyped'; break;
        case 'charset': \header('Content-Type: text/plain'); break;
        case 'length': \header('Content-Length: 5'); echo 'hello'; return;
        case 'none': \http_response_code(204); return;
        case 'not-modified': \http_response_code(304); \header('ETag: "1"'); return;
        case 'exit': echo 'before '; \register_shutdown_function(fn() => print 'shutdown'); exit('exits ');
        case 'exit-number': echo 'before'; exit(3);
        case 'throws': echo 'lost?'; throw new \Exception('not seen');
        case 'caught': \set_exception_handler(function ($e) { \http_response_code(409); echo 'handled ', $e->getMessage(); }); throw new \Exception('this');
        case 'buffers': \ob_start(fn($text) => \strtoupper($text)); echo 'upper '; \ob_end_flush(); \ob_start(); echo 'dropped'; \ob_end_clean(); break;
        case 'late': echo \str_repeat('x', 10_000); \flush(); \header('X-Late: 1'); echo \json_encode(\headers_sent()); return;
        case 'big': echo \str_repeat('0123456789', 20_000); return;
        case 'callback': \header_register_callback(function () { \header('X-Callback: ' . \count(\headers_list())); }); break;
        case 'finish': echo 'sent'; $first = \fastcgi_finish_request(); echo 'not sent'; \file_put_contents(\dirname(__DIR__) . '/finished', \var_export([$first, \fastcgi_finish_request()], true)); return;
        case 'finished': echo \file_get_contents(\dirname(__DIR__) . '/finished'); return;
        case 'session': \session_save_path(\dirname(__DIR__)); \session_id('abcdefghijklmnopqrstuvwxyz'); \session_start(); echo \session_id(), ' ', $_SESSION['n'] = 1; return;
        case 'shutdown': \register_shutdown_function(function () { \header('X-Shutdown: 1'); echo ' shut down'; }); break;
        case 'input-twice': echo \md5(\file_get_contents('php://input')), ' ', \strlen(\stream_get_contents(\fopen('php://input', 'r'))); return;
        case 'warning': echo $undefined; break;
    }
    echo "did $what";
}

function main(): void
{
    if (isset($_GET['do'])) {
        act($_GET['do']);
        return;
    }
    $seen = seen(); // before anything is sent
    \header('Content-Type: application/json');
    echo \json_encode($seen, \JSON_INVALID_UTF8_SUBSTITUTE | \JSON_UNESCAPED_SLASHES | \JSON_PARTIAL_OUTPUT_ON_ERROR);
}
