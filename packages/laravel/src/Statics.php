<?php

declare(strict_types=1);

namespace Spindle\Laravel;

use Carbon\{Carbon, CarbonImmutable, FactoryImmutable};

/** What applications set in a request, and Laravel and Carbon keep in static properties: it gets the values that it had after the boot. */
final class Statics
{
    /** Those of paginators are functions that find the current page. */
    private const NAMES = [
        \Illuminate\Database\Eloquent\Model::class => ['dispatcher', 'unguarded'],
        \Illuminate\Database\Eloquent\Relations\Relation::class => ['morphMap'],
        \Illuminate\Http\Resources\Json\JsonResource::class => ['wrap'],
        \Illuminate\Pagination\AbstractPaginator::class => ['currentPathResolver', 'currentPageResolver', 'queryStringResolver', 'viewFactoryResolver', 'defaultView',
            'defaultSimpleView'],
        \Illuminate\Support\DateFactory::class => ['dateClass', 'callable', 'factory'],
        Carbon::class => self::CARBON,
        CarbonImmutable::class => self::CARBON,
    ];

    /** Of Carbon 2. Later ones have most of it in an object. */
    private const CARBON = ['testNow', 'testDefaultTimezone', 'weekStartsAt', 'weekEndsAt', 'weekendDays', 'midDayAt', 'toStringFormat', 'serializer',
        'strictModeEnabled', 'monthsOverflow', 'yearsOverflow', 'humanDiffOptions', 'translator'];

    /** @var list<array{\ReflectionProperty, mixed}> */
    private readonly array $values;
    private readonly ?Snapshot $carbon;
    private readonly string $locale;

    /** Called at the end of the boot. */
    public function __construct()
    {
        $this->locale = Carbon::getLocale();
        $this->carbon = method_exists(FactoryImmutable::class, 'getDefaultInstance')
            ? new Snapshot(FactoryImmutable::getDefaultInstance(), static fn () => false) : null;
        $values = [];
        foreach (self::NAMES as $class => $names) {
            foreach ($names as $name) {
                if (property_exists($class, $name)) {
                    $property = new \ReflectionProperty($class, $name);
                    $property->isStatic() && $values[] = [$property, $property->getValue()];
                }
            }
        }
        $this->values = $values;
    }

    public function restore(): void
    {
        foreach ($this->values as [$property, $value]) {
            $property->setValue(null, $value);
        }
        $this->carbon?->restore();
        Carbon::setLocale($this->locale);
        \Illuminate\Support\Str::flushCache();
        class_exists(\Illuminate\Support\Once::class) && \Illuminate\Support\Once::flush();
        \Illuminate\Support\Facades\Facade::clearResolvedInstances();
    }
}
