<?php

declare(strict_types=1);

namespace Spindle\Pooled;

use function Async\currentCoroutine;
use function Async\localContext;

/**
 * Gives an object properties that each coroutine has for itself, although a class above declares them, also as private ones.
 *
 * The declared properties are unset, so that PHP asks `__get()` and `__set()` for them wherever code of that class uses them. What a
 * coroutine has is in its context, and is gone when it or the object ends.
 */
trait OwnByCoroutine
{
    /** @var array<string, mixed> what a coroutine begins with */
    private array $atFirst = [];

    /** @var array<string, true> those of them that are settings: others begin with what the coroutine has set that has made the object */
    private array $isSetting = [];

    private ?int $maker = null;

    /**
     * Makes properties each coroutine's own. Those that the class does not declare are left out: versions differ.
     *
     * @param class-string $of the class that declares them
     * @param list<string> $state begin with what they have now
     * @param list<string> $settings begin with what the coroutine that calls this has set last
     */
    private function ownByCoroutine(string $of, array $state, array $settings = []): void
    {
        $this->maker = currentCoroutine()?->getId();
        $this->isSetting = \array_fill_keys($settings, true);
        $names = \array_filter([...$state, ...$settings], static fn (string $name) => \property_exists($of, $name));
        // The private ones can only be unset in the scope of their class.
        $this->atFirst = \Closure::bind(function () use ($names): array {
            $values = [];
            foreach ($names as $name) {
                $values[$name] = $this->$name;
                unset($this->$name);
            }
            return $values;
        }, $this, $of)();
    }

    /**
     * What the running coroutine has. Objects are copied, if they can be, so that none is shared; but those that are settings are what the
     * coroutine has that has made the object, and others copy them as it has changed them.
     */
    private function ownState(): object
    {
        $context = localContext();
        $all = $context->find(OwnByCoroutine::class) ?? $context->set(OwnByCoroutine::class, new \WeakMap())->get(OwnByCoroutine::class);
        $state = $all[$this] ?? null;
        if ($state === null) {
            $state = (object) $this->atFirst;
            $isMaker = currentCoroutine()?->getId() === $this->maker;
            foreach ($this->atFirst as $name => $value) {
                if (\is_object($value) && !$value instanceof \Closure && !($isMaker && isset($this->isSetting[$name])) && (new \ReflectionObject($value))->isCloneable()) {
                    $state->$name = clone $value;
                }
            }
            $all[$this] = $state;
        }
        return $state;
    }

    private function &ownProperty(string $name): mixed
    {
        if (!\array_key_exists($name, $this->atFirst)) {
            \trigger_error('Undefined property: ' . static::class . "::\$$name", \E_USER_WARNING);
            $none = null;
            return $none;
        }
        return $this->ownState()->$name;
    }

    public function &__get(string $name): mixed
    {
        return $this->ownProperty($name);
    }

    public function __set(string $name, mixed $value): void
    {
        if (!\array_key_exists($name, $this->atFirst)) {
            $this->$name = $value;
            return;
        }
        $this->ownState()->$name = $value;
        if (isset($this->isSetting[$name]) && currentCoroutine()?->getId() === $this->maker) {
            $this->atFirst[$name] = $value;
        }
    }

    public function __isset(string $name): bool
    {
        return \array_key_exists($name, $this->atFirst) && isset($this->ownState()->$name);
    }

    public function __clone()
    {
        // A copy begins with what this coroutine has.
        $this->atFirst = (array) $this->ownState();
    }
}
