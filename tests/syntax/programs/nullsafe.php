<?php
// A callee with ?-> gives null, and no coroutine, when there is nothing to call.
class Node {
    public ?Node $next = null;
    public array $names = ['first' => 'name'];
    public function __construct(public string $title) {}
    public function name(string $suffix = '!'): string { return $this->title . $suffix; }
    public function next(): ?Node { return $this->next; }
    public function rename(string &$title): void { [$title, $this->title] = [$this->title, $title]; }
}
function never(): never { throw new Error('evaluated'); }

$nobody = null;
$node = new Node('one');
$node->next = new Node('two');
$title = 'three';

var_dump(spawn $nobody?->name(never()));
var_dump(spawn $nobody?->next->next()->name(never()));
var_dump(spawn $node->next->next?->name(never()));
echo await spawn $node?->name('?'), "\n";
echo await spawn $node?->next()?->name(suffix: '.'), "\n";
echo await spawn $node?->next->{$node->names['first']}(), "\n";
await spawn $node?->next?->rename($title);
echo $title, ' ', $node->next->title, "\n";
echo (spawn $nobody?->name()) ?? 'nobody', "\n";
