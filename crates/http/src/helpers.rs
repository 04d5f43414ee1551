//! Helpers written in PHP: loops over values of user code, and PHP's parser of forms.

use spindle_php::{RequestValue, coroutine};
use spindle_zend::{PhpResult, PhpStatic, Thrown, Value, engine};

const SOURCE: &str = r##"[
    'iterate' => static function (iterable $pieces, object $writer): void {
        foreach ($pieces as $piece) {
            $writer->write($piece);
        }
    },
    'events' => static function ($events, object $writer, float $heartbeat): void {
        $beats = $heartbeat > 0 ? \Async\spawn(static function () use ($writer, $heartbeat): void {
            while (true) {
                \Async\delay((int) \max(1, $heartbeat * 1000));
                $writer->write(":\n\n");
            }
        }) : null;
        try {
            if ($events instanceof \Closure) {
                $events($writer);
                return;
            }
            foreach ($events as $event) {
                \is_array($event) ? $writer->event(...$event) : $writer->event($event);
            }
        } finally {
            $beats?->cancel();
        }
    },
    'log' => static function (array $entries, $to, string $format, int $lost): void {
        if (\gettype($to) === 'resource (closed)') {
            throw new \Async\Http\ServerException('The stream of the access log is closed');
        }
        if (!\is_resource($to)) {
            foreach ($entries as $entry) {
                $to($entry);
            }
            return;
        }
        $quoted = static fn (?string $text): string => '"' . ($text === null ? '-' : \preg_replace_callback(
            '/["\\\\\x00-\x1f\x7f-\xff]/',
            static fn (array $found): string => \sprintf('\x%02x', \ord($found[0])),
            $text,
        )) . '"';
        $write = static function (string $text) use ($to): void {
            while ($text !== '') {
                $count = \fwrite($to, $text);
                if (!$count) {
                    throw new \Async\Http\ServerException('The access log cannot be written');
                }
                $text = \substr($text, $count);
            }
        };
        // Other processes may write to the same pipe: no more than PIPE_BUF bytes arrive in one piece.
        $isPipe = \stream_get_meta_data($to)['stream_type'] === 'STDIO' && ((\fstat($to)['mode'] ?? 0) & 0170000) === 0010000;
        $most = $isPipe ? 4096 : \PHP_INT_MAX;
        $text = $lost > 0 ? "$lost requests are not in this log, because writing it was too slow or has failed\n" : '';
        $json = static fn (mixed $value): string => \json_encode($value, \JSON_INVALID_UTF8_SUBSTITUTE | \JSON_UNESCAPED_SLASHES);
        foreach ($entries as $entry) {
            if ($format !== 'combined') {
                $entry = ['time' => \gmdate('Y-m-d\TH:i:s\Z')] + $entry;
                $entry['duration'] = \round($entry['duration'], 6);
            }
            if ($format === 'json') {
                $line = $json($entry) . "\n";
            } elseif ($format === 'logfmt') {
                $line = '';
                foreach ($entry as $name => $value) {
                    $isPlain = \is_string($value) && \preg_match('~^[\w./:@+-]+$~D', $value);
                    $line .= $value === null ? '' : "$name=" . ($isPlain ? $value : $json($value)) . ' ';
                }
                $line = \rtrim($line) . "\n";
            } else {
                $line = ($entry['client'] ?: '-') . \date(' - - [d/M/Y:H:i:s O] ')
                    . $quoted("{$entry['method']} {$entry['target']} {$entry['protocol']}")
                    . " {$entry['status']} " . ($entry['bytes'] ?: '-') . " {$quoted($entry['referer'])} {$quoted($entry['agent'])} $entry[request_id]\n";
            }
            if (\strlen($text) + \strlen($line) > $most) {
                $write($text);
                $text = '';
            }
            $text .= $line;
        }
        $write($text);
    },
    'patiently' => static function (object $last, ?object $writing): void {
        try {
            \Async\await($last, \Async\timeout(4000)); // 'spindle serve' kills a worker that takes longer than five seconds
        } catch (\Async\AwaitCancelledException) {
            $last->cancel();
            $writing?->cancel();
        }
    },
    'alone' => static function (callable $body): mixed {
        $scope = \Async\BoundedScope::inherit();
        $result = \Async\await($scope->spawn($body));
        \Async\await($scope);
        return $result;
    },
    'handler' => static function (mixed $handler): mixed {
        if (!$handler instanceof \Psr\Http\Server\RequestHandlerInterface) {
            return $handler;
        }
        if (!\class_exists(\Spindle\Psr15\Handler::class)) {
            throw new \Async\Http\ServerException('The boot has returned a PSR-15 handler, which needs the package spindle/psr15');
        }
        return new \Spindle\Psr15\Handler($handler);
    },
    'messages' => static function (object $socket): \Generator {
        while (($message = $socket->receive()) !== null) {
            yield $message;
        }
    },
    'copy' => static function ($stream, object $writer): void {
        while (!\feof($stream)) {
            $piece = \fread($stream, 65536);
            if ($piece === false) {
                throw new \Async\Http\ServerException('The stream of a response cannot be read');
            }
            $writer->write($piece);
        }
    },
    'psrHead' => static fn (object $response): array
        => [$response->getStatusCode(), $response->getHeaders(), $response->getBody(), \method_exists($response, 'getReasonPhrase') ? $response->getReasonPhrase() : ''],
    'psrBody' => static function (object $body, object $writer): void {
        if ($body->isSeekable()) {
            $body->rewind();
        }
        while (!$body->eof()) {
            $writer->write($body->read(65536));
        }
    },
    'parse' => static function (string $text): array {
        \parse_str($text, $result);
        return $result;
    },
    'files' => static function (string $names, array $files): array {
        \parse_str($names, $result);
        \array_walk_recursive($result, static function (&$value) use ($files): void {
            $value = $files[(int) $value];
        });
        return $result;
    },
]"##;

static HELPERS: PhpStatic<RequestValue> = PhpStatic::new(RequestValue::new());

/// Calls one of them.
///
/// # Errors
/// It has thrown.
pub fn call(name: &str, arguments: &mut [Value]) -> PhpResult {
    let helpers = match HELPERS.get() {
        Some(helpers) => helpers,
        None => {
            let helpers = engine::evaluate(SOURCE, c"Async\\Http")?;
            HELPERS.set(helpers.clone());
            helpers
        }
    };
    let helper = helpers.as_array().and_then(|helpers| helpers.get_text(name.as_bytes())).cloned();
    let Some(helper) = helper else { return Err(crate::errors::server_error("There is no such helper")) };
    coroutine::call(&helper, arguments)
}

/// Parses what the query of a URL consists of, as PHP does.
///
/// # Errors
/// An error handler has thrown.
pub fn parse(text: &[u8]) -> Result<Value, Thrown> {
    call("parse", &mut [spindle_zend::Str::new(text).into()])
}

/// Releases them. At the end of the request.
pub fn forget() {
    HELPERS.release();
}
