<?php
class Visibility {
    public private(set) string $a = 'a';
    protected(set) int $b;
    public protected( set ) readonly array $c;
    private(set) static $d, $e = 1;
    public public(set) ?self $f { get => $this->f; }
    PUBLIC PRIVATE(SET) int $g;
    public function __construct(public private(set) int $h, protected(set) string $i) {}
    public function private() { $this->private(set: 1); self::protected(set()); }
    const PUBLIC = 1;
}
private (set);
