<?php

declare(strict_types=1);

namespace Spindle\Laravel;

/**
 * The properties of an object graph as they were, to be set again.
 *
 * It begins with one object, and goes on from the values of properties, also those in arrays, to all objects that `$belongs` is
 * true for. Values are kept, not copied: an array is as it was, an object in it is the same one. Static and read-only properties
 * are left alone, as is what had no value.
 */
final class Snapshot
{
    /** How deep objects may be in arrays: the deepest of Laravel's own are a manager's, by a name and a kind. */
    private const DEPTH = 3;

    /** @var array<int, array{object, list<array{\Closure, array<string, mixed>}>}> by the ids of objects */
    private array $taken = [];
    /** @var array<class-string, array{\Closure, \Closure}> for each class what reads the properties that it declares, and sets them */
    private array $access = [];

    /** @param \Closure(object): bool $belongs */
    public function __construct(object $first, private readonly \Closure $belongs)
    {
        $waiting = [$first];
        while ($object = array_pop($waiting)) {
            if (!isset($this->taken[spl_object_id($object)])) {
                array_push($waiting, ...$this->take($object));
            }
        }
    }

    /** Sets the properties to the values that they had. */
    public function restore(): void
    {
        foreach ($this->taken as [$object, $parts]) {
            foreach ($parts as [$set, $values]) {
                $set($object, $values);
            }
        }
    }

    /** @return list<object> what of its properties belongs to it, too */
    private function take(object $object): array
    {
        $parts = $found = [];
        for ($class = new \ReflectionClass($object); $class && $class->isUserDefined(); $class = $class->getParentClass()) {
            [$read, $set] = $this->access[$class->name] ??= self::accessTo($class);
            if (($values = $read($object)) !== []) {
                $parts[] = [$set, $values];
                $this->find($values, self::DEPTH, $found);
            }
        }
        $this->taken[spl_object_id($object)] = [$object, $parts];
        return $found;
    }

    /** @param list<object> $found */
    private function find(array $values, int $depth, array &$found): void
    {
        foreach ($values as $value) {
            if (is_object($value)) {
                ($this->belongs)($value) && $found[] = $value;
            } elseif (is_array($value) && $depth > 0) {
                $this->find($value, $depth - 1, $found);
            }
        }
    }

    /** @return array{\Closure, \Closure} */
    private static function accessTo(\ReflectionClass $class): array
    {
        $names = [];
        foreach ($class->getProperties() as $property) {
            $is_hooked = method_exists($property, 'hasHooks') && $property->hasHooks();
            if ($property->class === $class->name && !$property->isStatic() && !$property->isReadOnly() && !$is_hooked) {
                $names[$property->name] = true;
            }
        }
        // In the class's scope, which may see its private properties.
        return [
            \Closure::bind(static fn (object $of): array => array_intersect_key(get_object_vars($of), $names), null, $class->name),
            \Closure::bind(static function (object $of, array $values): void {
                foreach ($values as $name => $value) {
                    $of->$name = $value;
                }
            }, null, $class->name),
        ];
    }
}
