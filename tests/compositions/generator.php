<?php
/**
 * Programs of random compositions of the features. Of one seed it always makes the same program.
 */
declare(strict_types=1);

namespace Compositions;

final class Generator
{
    /** How deep features are composed, at most. */
    private const DEPTH = 5;

    private \Random\Randomizer $random;
    /** @var array<string, int> features with the number of their parts */
    private array $features = [];

    public function __construct(int $seed)
    {
        $this->random = new \Random\Randomizer(new \Random\Engine\Mt19937($seed));
        foreach (\get_defined_functions()['user'] as $name) {
            $function = new \ReflectionFunction($name);
            if ($function->getNamespaceName() === 'Compositions\Feature') {
                $this->features[$function->getShortName()] = $function->getNumberOfParameters() - 1;
            }
        }
        \ksort($this->features);
    }

    private const HEAD = "<?php\nnamespace Compositions\\Feature;\n\nuse Compositions\\Job;\nuse function Compositions\\program;\n\n";

    /** The source of a program that prints the results of its jobs as JSON, by their names. */
    public function program(): string
    {
        $source = self::HEAD;
        $jobs = 3 + $this->draw(8);
        for ($job = 0; $job < $jobs; $job++) {
            $seed = $this->draw(1 << 20);
            $source .= "program()->job('$job', $seed, fn (Job \$j) => {$this->expression(0)});\n";
        }
        for ($victim = $this->draw(6); $victim > 0; $victim--) {
            $seed = $this->draw(1 << 20);
            $source .= "program()->victim($seed, {$this->draw(12)}, fn (Job \$j) => {$this->expression(0)});\n";
        }
        return $source . "program()->run({$this->draw(1 << 20)});\n";
    }

    private function expression(int $depth): string
    {
        $names = \array_keys(\array_filter($this->features, static fn (int $parts): bool => match (true) {
            $depth === 0 => $parts > 0,
            $depth === self::DEPTH => $parts === 0,
            default => true,
        }));
        // Failures at each leaf would leave nothing to see.
        do {
            $name = $names[$this->draw(\count($names))];
        } while (\preg_match('/^(throws|fails|divides|unmatched)/', $name) && $this->draw(3) > 0);
        $parts = '';
        for ($part = 0; $part < $this->features[$name]; $part++) {
            // What is called in a loop by what is called in a loop takes long.
            $next = $depth + ($depth > 1 ? 1 + $this->draw(self::DEPTH - $depth + 1) : 1);
            $parts .= ', fn (Job $j) => ' . $this->expression(\min($next, self::DEPTH));
        }
        return "$name(\$j$parts)";
    }

    private function draw(int $below): int
    {
        return $this->random->getInt(0, $below - 1);
    }
}
