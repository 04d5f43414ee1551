<?php

declare(strict_types=1);

/** A debugger, as Xdebug sees one: it listens on a port of its own, and speaks DBGp. */
final class Dbgp
{
    /** @var resource */
    private mixed $server;
    /** @var resource */
    private mixed $stream;
    private int $command = 0;

    public function __construct()
    {
        $this->server = stream_socket_server('tcp://127.0.0.1:0') ?: throw new RuntimeException('no port');
    }

    public function port(): int
    {
        return (int) substr(strrchr(stream_socket_get_name($this->server, false), ':'), 1);
    }

    /** Waits for the program. */
    public function accept(): void
    {
        $this->stream = stream_socket_accept($this->server, 30) ?: throw new RuntimeException('the program never came');
        stream_set_timeout($this->stream, 30);
        $this->read();
    }

    /** Sends a command, and returns the answer; without one, the program has ended the session. */
    public function ask(string $command, string $arguments = ''): ?SimpleXMLElement
    {
        fwrite($this->stream, rtrim("$command -i " . ++$this->command . " $arguments") . "\0");
        return $this->read();
    }

    /** Lets the program go on: where it stands then, or how it has ended. */
    public function go(string $command): string
    {
        $answer = $this->ask($command);
        $status = (string) ($answer['status'] ?? 'gone');
        return $status === 'break' ? $this->functions()[0] . ':' . $this->line() : $status;
    }

    public function line(): int
    {
        return (int) $this->ask('stack_get', '-d 0')->stack['lineno'];
    }

    /** @return list<string> what is on the stack, the innermost first */
    public function functions(): array
    {
        $functions = [];
        foreach ($this->ask('stack_get')->stack as $frame) {
            $functions[] = preg_replace('/^\{fiber:[0-9A-F]+\}$/', '{fiber}', (string) $frame['where']);
        }
        return $functions;
    }

    /** @return array<string, string> the local variables of a frame */
    public function locals(int $depth = 0): array
    {
        $locals = [];
        foreach ($this->ask('context_get', "-d $depth")->property as $property) {
            $value = (string) $property;
            $locals[(string) $property['name']] = (string) $property['encoding'] === 'base64' ? base64_decode($value) : $value;
        }
        return $locals;
    }

    private function read(): ?SimpleXMLElement
    {
        $length = stream_get_line($this->stream, 32, "\0");
        if ($length === false || $length === '') {
            return null;
        }
        $left = (int) $length + 1; // it ends in a null byte
        $text = '';
        while ($left > 0) {
            $part = fread($this->stream, $left);
            if ($part === false || $part === '') {
                throw new RuntimeException('half an answer');
            }
            $text .= $part;
            $left -= strlen($part);
        }
        return simplexml_load_string(str_replace('xmlns=', 'ns=', rtrim($text, "\0"))) ?: null;
    }
}
