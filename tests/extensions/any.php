<?php
/*
 * For extensions that nobody has said anything of, which take turns: whatever of them takes a text asks an object for it, and
 * that is suspended. It throws in the end, so that nothing is done with it.
 */
namespace Matrix;

final class NoText
{
    public static bool $was_asked = false;

    public function __toString(): string
    {
        self::$was_asked = true;
        pause();
        throw new \LogicException('no text');
    }
}

$first = \array_values(\array_filter(\get_loaded_extensions(), static fn($name) => \strtolower($name) === \strtolower(Flows::$extension)));
$extension = new \ReflectionExtension($first[0]);
$ways = [];
foreach ($extension->getFunctions() as $function) {
    $ways[$function->getName()] = [$function, $function->getName()];
}
foreach ($extension->getClasses() as $class) {
    foreach ($class->getMethods(\ReflectionMethod::IS_PUBLIC) as $method) {
        if ($method->getDeclaringClass()->getExtensionName() !== $extension->getName() || $class->implementsInterface(\Throwable::class)) {
            continue;
        }
        [$name, $of] = [$class->getName(), $method->getName()];
        $callable = match (true) {
            $method->isStatic() => [$name, $of],
            !$class->isInstantiable() => null,
            $method->isConstructor() => static fn(...$all) => new $name(...$all),
            ($class->getConstructor()?->getNumberOfRequiredParameters() ?? 0) > 0 => null,
            default => static fn(...$all) => (new $name)->$of(...$all),
        };
        if ($callable && !$method->isDestructor()) {
            $ways["{$method->class}::$of"] = [$method, $callable];
        }
    }
}
$checks = 0;
foreach ($ways as $name => [$function, $callable]) {
    if ($checks === 4) {
        break; // more of them would say the same
    }
    $arguments = [];
    foreach ($function->getParameters() as $parameter) {
        $type = $parameter->getType() instanceof \ReflectionNamedType ? $parameter->getType()->getName() : '';
        $arguments[] = match ($type) {
            'string', '' => new NoText,
            'int', 'float' => 0,
            'bool' => false,
            'array' => [],
            default => null,
        };
        if ($type === 'string' || $type === '' && !$parameter->hasType()) {
            for ($rest = $function->getNumberOfRequiredParameters() - \count($arguments); $rest > 0; $rest--) {
                $arguments[] = null;
            }
            // Once beforehand: is it a text that it takes?
            NoText::$was_asked = false;
            outcome(static fn() => @$callable(...$arguments), null, 0);
            if (NoText::$was_asked) {
                $checks++;
                check($name, static fn($_, int $n) => $callable(...$arguments), in: $name);
            }
            break;
        }
        if ($arguments[\count($arguments) - 1] === null) {
            break; // what comes before the text would be refused
        }
    }
}
