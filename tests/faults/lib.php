<?php
/* What scenes are written with. */
namespace Matrix;

/** What a function told by false, as an exception. */
final class Told extends \Exception {}

/** $value, unless it is false or null: what PHP's functions tell a failure by. */
function must(mixed $value, string $call): mixed
{
    return $value === false || $value === null ? throw new Told("$call failed") : $value;
}

/** Ports, process ids and addresses differ from run to run. */
function same_for_all(string $message): string
{
    return \preg_replace(['~/\S*/(?=[^/\s]*)~', '/0x[0-9a-f]+/', '/\d+/'], ['/', '#', '#'], $message);
}

/** Until the end of $bytes bytes; fewer are an answer too, if nothing was told. */
function read_all($stream, int $bytes): string
{
    $data = '';
    while (\strlen($data) < $bytes) {
        $part = must(\fread($stream, \min(8192, $bytes - \strlen($data))), 'fread');
        if ($part === '') {
            if (\feof($stream)) {
                break;
            }
            \stream_get_meta_data($stream)['timed_out'] and throw new Told('fread timed out');
        }
        $data .= $part;
    }
    return $data;
}

function write_all($stream, string $data): void
{
    while ($data !== '') {
        $data = \substr($data, must(\fwrite($stream, $data), 'fwrite'));
    }
}
