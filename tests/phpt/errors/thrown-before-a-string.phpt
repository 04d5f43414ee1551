--TEST--
A signal handler that throws just before an interpolated string is made frees nothing that is not there
--EXTENSIONS--
pcntl
--FILE--
<?php
pcntl_async_signals(true);
$throws = false; // not where it is not caught
pcntl_signal(SIGUSR1, function () use (&$throws) {
    if ($throws) {
        $throws = false;
        throw new Exception('interrupted');
    }
});
final class Text
{
    public string $name = 'x';

    /** Leaves freed strings where the next call has its pieces. */
    function before(): string
    {
        return str_repeat('y', 8) . strrev(str_repeat('z', 9)) . $this->name;
    }

    /** Its first instruction, at which a call is interrupted, begins the string. */
    function text(): string
    {
        return "one {$this->name} and {$this->name}";
    }
}

function caught(): int
{
    global $throws;
    $text = new Text;
    $killer = proc_open(['sh', '-c', 'while kill -USR1 "$0"; do :; done', (string) getmypid()], [2 => ['file', '/dev/null', 'w']], $pipes);
    for ($caught = 0; $caught < 200; ) {
        try {
            $throws = true;
            while (true) {
                $text->before();
                $text->text();
            }
        } catch (Exception) {
            $caught++;
        }
    }
    pcntl_signal(SIGUSR1, SIG_IGN);
    proc_terminate($killer, 9);
    proc_close($killer);
    return $caught;
}

echo caught(), "\n";
?>
--EXPECT--
200
