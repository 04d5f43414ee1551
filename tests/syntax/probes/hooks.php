<?php
class Hooks {
    public string $plain { get => strtoupper($this->plain); set => trim($value); }
    public int $both = 3 {
        get { return $this->both + 1; }
        set(int|string $value) { $this->both = (int) $value; }
    }
    public array $by_reference { &get => $this->items; }
    final protected ?self $next { #[Pure] final get => $this->next?->next; }
    abstract public int $wanted { get; set; }
    public $default = [1, 2] { get { return match (true) { default => $this->default }; } }
    public function __construct(public readonly int $a, public string $b { set(string $value) => "{$value}"; } = 'b') {}
    public $spawn { get => $this->await; }
    public $await { set { $this->await = $value; } }
    const X = 1;
}
interface HasHooks { public string $name { get; } public int $size { set; get; } }
