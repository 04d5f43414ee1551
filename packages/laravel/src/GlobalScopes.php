<?php

declare(strict_types=1);

namespace Spindle\Laravel;

use Illuminate\Contracts\Events\Dispatcher;
use Illuminate\Database\Eloquent\Model;

/**
 * The global scopes of models: each class keeps those that the boot has given it, and those of its own, which it has added when it
 * was booted, also in a request. What a request adds by `addGlobalScope()`, as of its tenant, is gone at its end.
 */
final class GlobalScopes
{
    private readonly \ReflectionProperty $scopes;
    private readonly \ReflectionProperty $booted;
    /** @var array<class-string, array> */
    private readonly array $atFirst;
    /** @var array<class-string, array> of classes that have booted */
    private array $own;

    public function __construct(Dispatcher $events)
    {
        $this->scopes = new \ReflectionProperty(Model::class, 'globalScopes');
        $this->booted = new \ReflectionProperty(Model::class, 'booted');
        $this->own = $this->atFirst = $this->scopes->getValue();
        $before = [];
        $events->listen('eloquent.booting: *', function (string $event, array $of) use (&$before): void {
            $before[$of[0]::class] = $this->scopes->getValue()[$of[0]::class] ?? [];
        });
        $events->listen('eloquent.booted: *', function (string $event, array $of) use (&$before): void {
            $class = $of[0]::class;
            $scopes = $this->scopes->getValue()[$class] ?? [];
            $added = array_filter($scopes, static fn ($scope, $name) => ($before[$class][$name] ?? null) !== $scope, ARRAY_FILTER_USE_BOTH);
            $this->own[$class] = $added + ($this->atFirst[$class] ?? []);
            unset($before[$class]);
        });
    }

    public function restore(): void
    {
        $scopes = $this->atFirst;
        foreach ($this->booted->getValue() as $class => $_) {
            // Where events were off, nothing is known of a class but what it has.
            $scopes[$class] = $this->own[$class] ?? $this->scopes->getValue()[$class] ?? [];
        }
        $this->scopes->setValue(null, $scopes);
    }
}
