<?php

declare(strict_types=1);

namespace Applications;

use PHPUnit\Framework;

/** Writes down how each test ends, at once: the process may not live to its end. */
final class Results implements Framework\TestListener
{
    use Framework\TestListenerDefaultImplementation;

    /** @var list<string> */
    private array $events = [];
    private string $message = '';
    private bool $isBetween = true;

    public function __construct(private readonly string $file, private readonly \Closure $giveWay)
    {
    }

    public function startTest(Framework\Test $test): void
    {
        ($this->giveWay)();
        $this->events = [];
        $this->isBetween = false;
        $this->write(['begins' => self::nameOf($test)]);
    }

    public function endTest(Framework\Test $test, float $time): void
    {
        $this->isBetween = true;
        $this->write(['test' => self::nameOf($test), 'outcome' => implode('+', $this->events) ?: 'passed', 'message' => $this->message]);
        $this->message = '';
    }

    public function addError(Framework\Test $test, \Throwable $t, float $time): void
    {
        $this->add('error', $test, $t);
    }

    public function addWarning(Framework\Test $test, Framework\Warning $e, float $time): void
    {
        $this->add('warning', $test, $e);
    }

    public function addFailure(Framework\Test $test, Framework\AssertionFailedError $e, float $time): void
    {
        $this->add('failure', $test, $e);
    }

    public function addIncompleteTest(Framework\Test $test, \Throwable $t, float $time): void
    {
        $this->add('incomplete', $test, $t);
    }

    public function addRiskyTest(Framework\Test $test, \Throwable $t, float $time): void
    {
        $this->add('risky', $test, $t);
    }

    public function addSkippedTest(Framework\Test $test, \Throwable $t, float $time): void
    {
        $this->add('skipped', $test, $t);
    }

    /** @param array<string, mixed> $line */
    public function write(array $line): void
    {
        file_put_contents($this->file, json_encode($line, JSON_INVALID_UTF8_SUBSTITUTE | JSON_UNESCAPED_SLASHES) . "\n", FILE_APPEND);
    }

    private function add(string $event, Framework\Test $test, \Throwable $t): void
    {
        $message = $t::class . ': ' . strtok($t->getMessage(), "\n");
        if ($this->isBetween) { // something of a whole class
            $this->write(['test' => self::nameOf($test), 'outcome' => $event, 'message' => $message]);
            return;
        }
        $this->events[] = $event;
        $this->message = ltrim("$this->message; $message", '; ');
    }

    private static function nameOf(Framework\Test $test): string
    {
        return $test instanceof Framework\TestCase ? $test::class . '::' . $test->getName()
            : ($test instanceof Framework\SelfDescribing ? $test->toString() : $test::class);
    }
}
